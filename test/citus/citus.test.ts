/**
 * A store that is spread over the machines of a Citus cluster (docs/scale.md): the contract's rules hold on all
 * machines.
 */
import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { distribute, isSpread } from '../../src/ground/schema/distribution.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { Vault } from '../../src/seal/vault.ts';
import { lastChangeOf } from '../../src/subjects/applications/sql/desk/last-event.ts';
import { makePartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { usedNow } from '../../src/subjects/partners/sql/usage.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { CitusCluster, findCitus } from '../support/citus-cluster.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { registerApplicants } from '../support/delivery-run.ts';
import { eventually } from '../support/eventually.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { addPartner, anApplication, post, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const bin = findCitus();
const vault = new Vault(TEST_SECRETS);

interface Answer {
  readonly results: { id: number; phone?: string }[];
  readonly errors_detail?: unknown[];
}

describe('a store on a Citus cluster', { skip: bin === null && 'Citus is not installed' }, async () => {
  if (bin === null) return;
  const cluster = await CitusCluster.start(bin);
  const machines = cluster.machines();
  const pools: Database[] = [];
  const kept = (pool: Database) => {
    pools.push(pool);
    return pool;
  };
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    cluster.stop();
  });
  const databases = machines.map((url) => kept(openPatiently(url, 6))) as [Database, Database, Database];
  const served = machines.map((connectionString) => kept(openPatiently(connectionString, 6)));
  const [coordinator, worker] = databases;
  await migrate(coordinator, machineClock);
  const store = { database: coordinator, vault };

  /** Starts a service on each machine, until the test is over. */
  async function serveOnAll(t: TestContext, environment = { DELIVERY: 'off' } as object): Promise<string[]> {
    const config = { ...readConfig({ ...environment }), port: 0, opsPort: 0 };
    const log = pino({ level: 'silent' });
    const services = await Promise.all(
      served.map((database) => startPatiently(config, { database, vault, clock: machineClock }, log)),
    );
    t.after(() => Promise.all(services.map((service) => service.stop())));
    return services.map(({ url }) => `${url}/PRO`);
  }

  it('is told from a server without Citus, and from a worker of Citus', async () => {
    await assert.rejects(
      distribute(kept(openPatiently(cluster.machines('template1')[0] as string))),
      SetupError,
    );
    await assert.rejects(distribute(worker), SetupError);
    await assert.rejects(migrate(worker, machineClock), /coordinator/, 'tables would be made there alone');
  });

  it('has each table once, and a second distribution does nothing', async () => {
    assert.equal(await isSpread(coordinator), false);
    const done = await distribute(coordinator);
    assert.equal(new Set(done).size, done.length);
    assert.ok(
      done.includes('batches') && done.includes('sender') && !done.some((name) => /^batches_to/.test(name)),
    );
    assert.deepEqual(await distribute(coordinator), []);
    for (const database of databases) {
      const { rows } =
        await database.query(`SELECT count(DISTINCT nodeport)::integer AS workers FROM citus_shards
        WHERE table_name = 'open_phones'::regclass`);
      assert.equal(rows[0].workers, 2);
      assert.equal(await isSpread(database), true);
    }
  });

  it('D15-D18, D36: the rules hold over services on all machines at once', async (t) => {
    const urls = await serveOnAll(t);
    const partners = await Promise.all([1, 2, 3].map(() => addPartner(store, { dailyCap: 40 })));
    const phones = Array.from({ length: 60 }, (_, index) => `+5731555${String(index).padStart(5, '0')}`);
    const answers = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const start = (index * 7) % phones.length;
        const turned = [...phones.slice(start), ...phones.slice(0, start)].slice(0, 20);
        const applications = (index % 2 === 0 ? turned : turned.reverse()).map((phone) =>
          anApplication({ phone }),
        );
        const { apiKey } = partners[index % 3] as { apiKey: string };
        const headers = { 'Idempotency-Key': `citus-${index}` };
        const body = { applications };
        const first = await postUntilServed(urls[index % urls.length] as string, apiKey, body, headers);
        const again = await postUntilServed(urls[(index + 1) % urls.length] as string, apiKey, body, headers);
        assert.equal(first.status, 200, first.text);
        assert.equal(again.text, first.text);
        return first.body as Answer;
      }),
    );
    const told = answers.flatMap(({ results }) => results.map(({ id }) => id)).sort((a, b) => a - b);
    assert.equal(told.length, phones.length, 'every phone is taken once');
    for (const database of databases) {
      const { rows } = await database.query('SELECT id::float8 AS id FROM applications ORDER BY id');
      assert.deepEqual(
        rows.map(({ id }) => id),
        told,
      );
      const used = await Promise.all(partners.map(({ partnerId }) => usedNow(database, partnerId)));
      assert.equal(
        used.reduce((sum, one) => sum + one.used, 0),
        told.length,
      );
      assert.ok(used.every((one) => one.used <= 40));
    }
  });

  it('workers on all machines send the messages, each in one attempt', async (t) => {
    const [url] = await serveOnAll(t, { CHANNEL: 'log', MESSAGES_PER_SECOND: 'none' });
    const { apiKey } = await addPartner(store);
    const ids = await registerApplicants((url as string).replace(/\/PRO$/, ''), apiKey, 300);
    const accepted =
      'SELECT count(*)::integer AS n FROM messages WHERE application_id = ANY ($1) AND status = $2 AND attempts = 1';
    for (const database of databases) {
      await eventually('the messages to go out', async () => {
        const { rows } = await database.query(accepted, [ids, 'accepted']);
        return rows[0].n === ids.length;
      });
    }
  });

  it('D42: workers on all machines send a phone one rejection and what comes next, and cancel the rest', async (t) => {
    const urls = await serveOnAll(t);
    const partners = await Promise.all([1, 2, 3, 4].map(() => addPartner(store)));
    // No contact window is ever closed there.
    const phones = Array.from({ length: 12 }, (_, index) => `+52551777${String(index).padStart(4, '0')}`);
    const send = async (index: number, changes: object) => {
      const applications = phones.map((phone) => anApplication({ phone, ...changes }));
      const { apiKey } = partners[index] as { apiKey: string };
      const answer = await postUntilServed(urls[index % urls.length] as string, apiKey, { applications });
      assert.equal((answer.body as Answer).results.length, phones.length, answer.text);
    };
    await Promise.all([1, 2, 3].map((index) => send(index, REJECTED)));
    // The last one, because an open application refuses all others with its phone (D17).
    await send(0, {});
    await serveOnAll(t, { CHANNEL: 'log', MESSAGES_PER_SECOND: 'none' });
    const outcomes = async () => {
      const { rows } = await worker.query<{ outcome: string; phones: number; messages: number }>(
        `SELECT concat_ws(' ', CASE m.type WHEN 'rejected' THEN 'rejected' ELSE 'other' END, m.status, m.reason) AS outcome,
          count(DISTINCT a.phone_index)::integer AS phones, count(*)::integer AS messages
        FROM messages m JOIN applications a ON a.id = m.application_id
        WHERE a.partner_id = ANY ($1) GROUP BY 1 ORDER BY 1`,
        [partners.map(({ partnerId }) => partnerId)],
      );
      return rows;
    };
    await eventually('the messages', async () =>
      (await outcomes()).every(({ outcome }) => !/queued|sending/.test(outcome)),
    );
    assert.deepEqual(await outcomes(), [
      { outcome: 'other accepted', phones: 12, messages: 12 },
      { outcome: 'rejected accepted', phones: 12, messages: 12 },
      { outcome: 'rejected cancelled recipient_limit', phones: 12, messages: 24 },
    ]);
  });

  it('who did what: acts from all machines make one chain', async (t) => {
    const [url] = await serveOnAll(t);
    const { apiKey } = await addPartner(store);
    const ids = await registerApplicants((url as string).replace(/\/PRO$/, ''), apiKey, 9);
    await Promise.all(
      databases.map(async (database, index) => {
        const { json } = commandLine({ database, vault, clock: machineClock });
        const [one, two, three] = ids.slice(3 * index).map(String) as [string, string, string];
        await json('partner', 'add', '--name', `Machine ${index}`, '--country', 'CO');
        await json('application', 'reject', one, '--reason', 'test');
        await json('message', 'cancel', two);
        await json('suppression', 'add', `+57 300 555 010${index}`);
        await json('application', 'show', three, ...REVEAL);
      }),
    );
    for (const database of databases) {
      const { json } = commandLine({ database, vault, clock: machineClock });
      const acts = (await json('audit', 'list')).map(({ act }: { act: string }) => act);
      assert.deepEqual(
        [acts.length, acts.filter((act: string) => act === 'application reject').length],
        [15, 3],
      );
      assert.deepEqual(await json('audit', 'verify'), { ok: true, events: 15, misfits: [], misfit_count: 0 });
      await assert.rejects(database.query('DELETE FROM operator_events'), /stay as they are/);
    }
  });

  it('D48: the last event of an application is the one that came last, whichever machine wrote it', async (t) => {
    const [url] = await serveOnAll(t);
    const { apiKey } = await addPartner(store);
    const applications = [anApplication(IN_REVIEW)];
    const { body } = await postUntilServed(url as string, apiKey, { applications });
    const id = toApplicationId((body as Answer).results[0]!.id);
    for (const [act, database] of [
      ['approve', worker],
      ['reject', coordinator],
    ] as const) {
      await commandLine({ database, vault, clock: machineClock }).json(
        ...['application', act, `${id}`, '--reason', 'x'],
      );
      for (const machine of databases) assert.equal((await lastChangeOf(machine, id))?.act, act);
    }
  });

  it('makes partitions from any machine', async () => {
    const count = async (database: Database) =>
      (
        await database.query(
          "SELECT count(*)::integer AS n FROM pg_inherits WHERE inhparent = 'batches'::regclass",
        )
      ).rows[0].n;
    const before = await count(worker);
    await coordinator.query("SELECT setval('batch_numbers', partition_width())");
    // The upkeep tries again: on a busy machine a turn may take longer than a statement may.
    await eventually('the partitions', () =>
      makePartitions(worker).then(
        () => true,
        () => false,
      ),
    );
    for (const database of databases) assert.ok((await count(database)) > before);
  });

  it('D15, D37: a worker that dies and comes back loses nothing that was answered', async (t) => {
    const urls = (await serveOnAll(t)).slice(0, 1);
    const { partnerId, apiKey } = await addPartner(store);
    const acknowledged: number[] = [];
    let isOver = false;
    const numbers = Array.from({ length: 100_000 }, (_, index) => String(index).padStart(7, '0'));
    const clients = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const applications = Array.from({ length: 10 }, () =>
          anApplication({ phone: `+57316${numbers.pop()}` }),
        );
        const answer = await post(urls[0] as string, apiKey, { applications }).catch(() => null);
        if (answer?.status === 200)
          for (const { id } of (answer.body as Answer).results) acknowledged.push(id);
      }
    });
    try {
      await eventually('answers', async () => acknowledged.length > 200);
      cluster.killMachine(2);
      cluster.startMachine(2);
      const atReturn = acknowledged.length;
      await eventually('answers after its return', async () => acknowledged.length > atReturn + 200);
    } finally {
      isOver = true;
      await Promise.all(clients);
    }
    const { rows } = await coordinator.query(
      'SELECT id::float8 AS id, phone_index FROM applications WHERE partner_id = $1',
      [partnerId],
    );
    const stored = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
    assert.equal(
      new Set(rows.map(({ phone_index }) => phone_index)).size,
      rows.length,
      'no phone is open twice',
    );
    await eventually('the prepared transactions to be resolved', async () => {
      const left = await Promise.all(
        databases.map((database) => database.query('SELECT FROM pg_prepared_xacts')),
      );
      return left.every(({ rowCount }) => rowCount === 0);
    });
  });
});
