/** The machines of a Citus cluster come, go, and are away for a while (docs/scale.md): no answer becomes untrue. */
import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { type BatchId, batchAndPositionOf, toApplicationId } from '../../src/domain/application/ids.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { distribute } from '../../src/ground/schema/distribution.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { Vault } from '../../src/seal/vault.ts';
import { MAKE_AHEAD_MS, makePartitionsAhead } from '../../src/subjects/applications/sql/partitions.ts';
import type { ListenerLimits } from '../../src/wire/gate/connections.ts';
import { goOnFrom, partitionEnds } from '../support/batch-numbers.ts';
import { CitusCluster, findCitus } from '../support/citus-cluster.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { registerApplicants } from '../support/delivery-run.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { migratePatiently } from '../support/open-patiently.ts';
import { addPartner, anApplication, post, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const bin = findCitus();
const vault = new Vault(TEST_SECRETS);
/** A partner's pause between two batches. */
const PAUSE_MS = 200;
/**
 * How many times as long as a try a partition's maker rests. A move that meets a try is undone, and Citus repeats it
 * after 5, 20 and then 60 s: on a slow machine tries without rests would undo each move.
 */
const REST_AFTER_TRY = 5;
const MOVES = `SELECT state, (SELECT count(*)::integer FROM pg_dist_background_task WHERE status = 'done') AS done
  FROM citus_rebalance_status()`;

interface Answer {
  readonly results: { id: number }[];
}

describe('the machines of a Citus cluster', { skip: bin === null && 'Citus is not installed' }, async () => {
  if (bin === null) return;
  const cluster = await CitusCluster.start(bin);
  const pools: Database[] = [];
  const open = (connectionString: string) => {
    const pool = openDatabase({ connectionString }, { max: 10, onError: () => {}, clock: machineClock });
    pools.push(pool);
    return pool;
  };
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    cluster.stop();
  });
  const databases = cluster.machines().map(open) as [Database, Database, Database];
  const [coordinator] = databases;
  await migratePatiently(cluster.machines()[0] as string);
  await distribute(coordinator);
  const store = { database: coordinator, vault };

  interface Served {
    readonly environment?: Readonly<Record<string, string>>;
    readonly limits?: ListenerLimits;
  }

  async function serveOn(
    t: TestContext,
    database: Database,
    { environment = { DELIVERY: 'off' }, limits }: Served = {},
  ) {
    const config = { ...readConfig(environment), port: 0, opsPort: 0 };
    const service = await startPatiently(
      config,
      { database, vault, clock: machineClock },
      pino({ level: 'silent' }),
      limits,
    );
    t.after(() => service.stop());
    return `${service.url}/PRO`;
  }

  /** Partners that send each batch until its answer is 200. */
  function sendAll(urls: readonly string[], apiKey: string, prefix: string) {
    const ids: number[] = [];
    const others = new Map<string, number>();
    let isOver = false;
    let serial = 0;
    let longestMs = 0;
    const loops = Array.from({ length: 4 }, async (_, client) => {
      while (!isOver) {
        const applications = Array.from({ length: 10 }, () =>
          anApplication({
            phone: `+57${prefix}${String(serial++).padStart(7, '0')}`,
            messaging_optin: false,
          }),
        );
        const headers = { 'Idempotency-Key': `${prefix}-${serial}` };
        await eventually('an answer', async () => {
          const url = urls[client % urls.length] as string;
          const sentAt = performance.now();
          const answer = await post(url, apiKey, { applications }, headers).catch(() => null);
          longestMs = Math.max(longestMs, performance.now() - sentAt);
          if (answer?.status === 200) {
            for (const { id } of (answer.body as Answer).results) ids.push(id);
            // Each move happens among registrations, and has CPU of its own.
            await sleep(PAUSE_MS);
            return true;
          }
          const what = answer === null ? 'closed' : `${answer.status} ${answer.headers.get('retry-after')}`;
          others.set(what, (others.get(what) ?? 0) + 1);
          return false;
        });
      }
    });
    const stop = async () => {
      isOver = true;
      await Promise.all(loops);
    };
    return { ids, others, stop, longestMs: () => longestMs };
  }

  async function assertStored(partnerId: PartnerId, ids: readonly number[]): Promise<void> {
    const { rows } = await coordinator.query(
      'SELECT id::float8 AS id, phone_index FROM applications WHERE partner_id = $1 ORDER BY id',
      [partnerId],
    );
    const stored = rows.map(({ id }) => id);
    assert.deepEqual(
      stored,
      [...ids].sort((a, b) => a - b),
      'each acknowledged one is stored once',
    );
    assert.equal(new Set(rows.map(({ phone_index }) => phone_index)).size, rows.length);
  }

  /** In a session without the service's limits. */
  async function asOperator(text: string, values: unknown[] = []): Promise<void> {
    const client = new pg.Client({ connectionString: cluster.machines()[0] as string });
    await client.connect();
    await client.query(text, values).finally(() => client.end());
  }

  /** Citus deletes the prepared transactions of a machine that leaves, and fails where its recovery was first. */
  async function remove({ hostname, port }: URL): Promise<void> {
    await eventually('a removal without the recovery in between', () =>
      asOperator('SELECT citus_remove_node($1, $2)', [hostname, port]).then(
        () => true,
        (error) => {
          assert.match((error as Error).message, /^tuple concurrently deleted$/);
          return false;
        },
      ),
    );
  }

  const shardsAt = async (port: string) => {
    const { rows } = await coordinator.query(
      `SELECT count(*)::integer AS n FROM citus_shards
      WHERE nodeport = $1 AND table_name IN ('batches'::regclass, 'open_phones'::regclass)`,
      [port],
    );
    return rows[0].n as number;
  };
  const rebalance = async (options: string) => {
    await asOperator(`SELECT citus_rebalance_start(rebalance_strategy := 'by_shard_count'${options})`);
    // Each move has a wait of its own: on a busy machine all of them together take longer.
    let done = -1;
    while (done !== Number.POSITIVE_INFINITY) {
      done = await eventually('a move', async () => {
        // A busy machine may not answer within the limit of the service's sessions.
        const answer = await coordinator.query(MOVES).catch(() => null);
        const now = answer?.rows[0];
        assert.notEqual(now?.state, 'failed');
        if (now?.state === 'finished') return Number.POSITIVE_INFINITY;
        return now !== undefined && now.done > done && now.done;
      });
    }
  };

  /**
   * Uses up a partition and has the next one made, again and again. Where none can be made, registrations go on in the
   * one that was made ahead.
   */
  function useUpPartitions() {
    const tries = { made: 0, refused: 0, longestMs: 0 };
    const refusals = new Set<string>();
    let isOver = false;
    let from = 0;
    const loop = (async () => {
      while (!isOver) {
        const startedAt = performance.now();
        try {
          const last = (await partitionEnds(coordinator)).at(-2) as number;
          // Never back: the numbers of before are taken.
          if (last > from) await goOnFrom(coordinator, last);
          from = last;
          await makePartitionsAhead(coordinator);
          tries.made += 1;
        } catch (error) {
          tries.refused += 1;
          refusals.add((error as Error).message);
        }
        const tookMs = performance.now() - startedAt;
        tries.longestMs = Math.max(tries.longestMs, Math.round(tookMs));
        await sleep(Math.max(1_000, tookMs * REST_AFTER_TRY));
      }
    })();
    const stop = () => {
      isOver = true;
      return loop;
    };
    return { tries, refusals, stop };
  }

  it('D15, D37: a machine is added, takes its shards under load, and is removed', async (t) => {
    const urls = await Promise.all(databases.slice(0, 2).map((database) => serveOn(t, database)));
    const { apiKey, partnerId } = await addPartner(store);
    const load = sendAll(urls, apiKey, '310');
    try {
      await eventually('answers', () => load.ids.length > 100);
      const number = await cluster.addMachine();
      const added = new URL(cluster.machines()[number] as string);
      await asOperator('SELECT citus_add_node($1, $2)', [added.hostname, added.port]);
      const partitions = useUpPartitions();
      await rebalance('').finally(partitions.stop);
      t.diagnostic(`${JSON.stringify(partitions.tries)} ${[...partitions.refusals].join(' | ')}`);
      for (const refusal of partitions.refusals)
        assert.match(refusal, /could not acquire the lock|(lock|statement) timeout/);
      assert.ok(partitions.tries.longestMs < MAKE_AHEAD_MS + SLACK_MS);
      await eventually('a partition', () => makePartitionsAhead(coordinator).then(() => true));
      assert.equal(await shardsAt(added.port), 4, 'its part of two tables of 8 shards on 3 machines');
      const there = load.ids.length;
      await eventually('answers with the new machine', () => load.ids.length > there + 100);
      const NO_SHARDS = "SELECT citus_set_node_property($1, $2, 'shouldhaveshards', false)";
      await asOperator(NO_SHARDS, [added.hostname, added.port]);
      await rebalance(', drain_only := true');
      assert.equal(await shardsAt(added.port), 0);
      await remove(added);
      const gone = load.ids.length;
      await eventually('answers without it', () => load.ids.length > gone + 100);
    } finally {
      await load.stop();
    }
    t.diagnostic(`${load.ids.length} applications; other answers: ${JSON.stringify([...load.others])}`);
    assert.deepEqual(
      [...load.others.keys()].filter((what) => !/^500 \d+$/.test(what)),
      [],
    );
    await assertStored(partnerId, load.ids);
  });

  it('D37: with a machine away every batch gets a 500 with Retry-After, and nothing is stored', async (t) => {
    const url = await serveOn(t, coordinator);
    const { apiKey, partnerId } = await addPartner(store);
    const send = (phone: string | null) => post(url, apiKey, { applications: [anApplication({ phone })] });
    await eventually('an answer', async () => (await send('+573110000000')).status === 200);
    cluster.killMachine(2);
    // The first ones may be cut off in the commit, where the outcome is not known at once.
    await send('+573110000001').catch(() => null);
    const before = performance.now();
    for (let serial = 2; serial < 12; serial += 1) {
      // A batch of many phones touches every machine.
      const applications = Array.from({ length: 20 }, (_, n) =>
        anApplication({ phone: `+5731100${String(serial * 100 + n).padStart(5, '0')}` }),
      );
      const answer = await post(url, apiKey, { applications });
      assert.equal(answer.status, 500, answer.text);
      assert.match(answer.headers.get('retry-after') ?? 'none', /^\d+$/);
    }
    t.diagnostic(`${Math.round((performance.now() - before) / 10)} ms a refusal`);
    cluster.startMachine(2);
    const { rows } = await coordinator.query(
      'SELECT count(*)::integer AS n FROM applications WHERE partner_id = $1',
      [partnerId],
    );
    assert.ok(rows[0].n <= 2, 'no refused batch is stored');
  });

  it('D37: with a machine that is silent every request is over in time, and after it all is well', async (t) => {
    const url = await serveOn(t, coordinator, { limits: PARTNER_LIMITS });
    const { apiKey, partnerId } = await addPartner(store);
    const load = sendAll([url], apiKey, '312');
    try {
      await eventually('answers', () => load.ids.length > 40);
      const thaw = cluster.freezeMachine(2);
      try {
        await eventually('refusals', () => [...load.others.values()].reduce((sum, n) => sum + n, 0) >= 12);
      } finally {
        thaw();
      }
      const before = load.ids.length;
      await eventually('answers after that', () => load.ids.length > before + 40);
    } finally {
      await load.stop();
    }
    t.diagnostic(`${JSON.stringify([...load.others])}, ${Math.round(load.longestMs())} ms at most`);
    assert.ok(load.longestMs() < 10_000 + SLACK_MS);
    await assertStored(partnerId, load.ids);
  });

  /** Puts a batch's row on its machine back to where it was before the commit: prepared, and not seen yet. */
  async function unresolve(batchId: BatchId): Promise<() => Promise<void>> {
    const { rows } = await coordinator.query(
      `SELECT s.shard_name, s.nodeport FROM pg_inherits i JOIN citus_shards s ON s.table_name = i.inhrelid
      WHERE i.inhparent = 'batches'::regclass AND s.shardid = get_shard_id_for_distribution_column(i.inhrelid, $1::bigint)
        AND $1 < substring(i.inhrelid::regclass::text FROM '[0-9]+$')::bigint
      ORDER BY substring(i.inhrelid::regclass::text FROM '[0-9]+$')::bigint LIMIT 1`,
      [batchId],
    );
    const { shard_name: shard, nodeport } = rows[0];
    const machine = cluster.machines().find((url) => new URL(url).port === String(nodeport));
    const client = new pg.Client({ connectionString: machine as string });
    await client.connect();
    const run = (text: string) => client.query(text);
    await run('SET citus.enable_manual_changes_to_shards = on');
    await run(`CREATE TEMP TABLE held AS SELECT * FROM ${shard} WHERE id = ${batchId}`);
    await run(`DELETE FROM ${shard} WHERE id = ${batchId}`);
    await run(`CREATE TABLE held_${batchId} AS SELECT * FROM held`);
    await run('DROP TABLE held');
    await run('BEGIN');
    await run(`INSERT INTO ${shard} SELECT * FROM held_${batchId}`);
    await run(`PREPARE TRANSACTION 'unresolved_${batchId}'`);
    return async () => {
      await run(`COMMIT PREPARED 'unresolved_${batchId}'`);
      await run(`DROP TABLE held_${batchId}`);
      await client.end();
    };
  }

  it('D41: an application whose commit is unresolved is told later, and is not unknown', async (t) => {
    const urls = await Promise.all(databases.slice(0, 2).map((database) => serveOn(t, database)));
    const { apiKey } = await addPartner(store);
    const get = (url: string, id: number) =>
      fetch(`${url}/applications/${id}`, { headers: { 'X-API-Key': apiKey } });
    const { results } = (
      await postUntilServed(urls[0] as string, apiKey, { applications: [anApplication()] })
    ).body as Answer;
    const id = results[0]?.id as number;
    const resolve = await unresolve(batchAndPositionOf(toApplicationId(id)).batchId);
    for (const url of urls) {
      const answer = await get(url, id);
      assert.equal(answer.status, 500);
      assert.match(answer.headers.get('retry-after') ?? 'none', /^\d+$/);
    }
    const waiting = get(urls[0] as string, id);
    await sleep(300);
    await resolve();
    assert.equal((await waiting).status, 200, 'a read waits for a moment');
    for (const url of urls) {
      assert.equal((await get(url, id)).status, 200);
      assert.equal((await get(url, id + 128 * 4_000)).status, 404);
    }
  });

  it('D33: a message whose batch is unresolved waits, and is not cancelled as erased', async (t) => {
    const url = await serveOn(t, coordinator);
    const { apiKey } = await addPartner(store);
    const [id] = (await registerApplicants(url.replace(/\/PRO$/, ''), apiKey, 1)) as [number];
    const resolve = await unresolve(batchAndPositionOf(toApplicationId(id)).batchId);
    const status = async () =>
      (await coordinator.query('SELECT status FROM messages WHERE application_id = $1', [id])).rows[0]
        ?.status;
    await serveOn(t, coordinator, { environment: { CHANNEL: 'log', MESSAGES_PER_SECOND: 'none' } });
    await sleep(3_000);
    assert.equal(await status(), 'queued');
    await resolve();
    await eventually('the message', async () => (await status()) === 'accepted');
  });
});
