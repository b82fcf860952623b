/** A Citus cluster is restored to a named point, as docs/scale.md says under "Backup", at other addresses. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { distribute } from '../../src/ground/schema/distribution.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { Vault } from '../../src/seal/vault.ts';
import { CitusCluster, findCitus } from '../support/citus-cluster.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { addPartner, anApplication, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const POINT = 'nightly-2026-11-22';
const ARCHIVE = { archive_mode: 'on', archive_command: "'cp %p FOLDER/%f'" };
const RECOVERY = {
  restore_command: "'cp FOLDER/%f %p'",
  recovery_target_name: `'${POINT}'`,
  recovery_target_action: "'promote'",
};
const OPEN = `SELECT id::float8 AS id, phone_index FROM applications
  WHERE is_open(status) AND phone_index IS NOT NULL ORDER BY 1`;
const SENDERS = 4;
const BATCH = 10;
const bin = findCitus();

/** An application, the time before its request and after the answer. */
interface Sent {
  readonly id: number;
  readonly application: Record<string, unknown>;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

/** Asks a machine in a session without the service's limits. */
async function ask(
  machine: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: machine });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** The service on the coordinator, for the time of `work`. */
async function serveOn(
  coordinator: string,
  work: (url: string, store: Store) => Promise<void>,
): Promise<void> {
  const database = openPatiently(coordinator, 10);
  const store = { database, vault: new Vault(TEST_SECRETS), clock: machineClock };
  try {
    await migrate(database, machineClock);
    await distribute(database);
    const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
    const service = await startPatiently(config, store, pino({ level: 'silent' }));
    try {
      await work(`${service.url}/PRO`, store);
    } finally {
      await service.stop();
    }
  } finally {
    await database.end();
  }
}
type Store = Parameters<typeof addPartner>[0];

/** Partners that send batches until they are stopped. Returns what was acknowledged so far. */
function sendAll(url: string, apiKey: string) {
  const sent: Sent[] = [];
  let isOver = false;
  const loops = Array.from({ length: SENDERS }, async () => {
    while (!isOver) {
      const applications = Array.from({ length: BATCH }, () => anApplication());
      const sentAtMs = performance.now();
      const { body } = await postUntilServed(url, apiKey, { applications });
      const answeredAtMs = performance.now();
      for (const [index, { id }] of (body as { results: { id: number }[] }).results.entries()) {
        sent.push({ id, application: applications[index]!, sentAtMs, answeredAtMs });
      }
    }
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(loops);
  };
  return { sent, stop };
}

describe('a restore point of a Citus cluster', {
  skip: bin === null && 'Citus is not installed',
}, async () => {
  if (bin === null) return;
  const cluster = await CitusCluster.start(bin, 2, ARCHIVE);
  after(() => cluster.stop());

  it('brings back what was acknowledged before it on all machines, and nothing that came after it', async () => {
    const [coordinator = ''] = cluster.machines();
    let apiKey = '';
    let sent: readonly Sent[] = [];
    let beganAtMs = 0;
    let endedAtMs = 0;
    await serveOn(coordinator, async (url, store) => {
      ({ apiKey } = await addPartner(store));
      const load = sendAll(url, apiKey);
      const flows = async () => {
        const { length } = load.sent;
        await eventually('answers', () => load.sent.length > length + 20 * BATCH);
      };
      await flows();
      cluster.backUp();
      await flows();
      beganAtMs = performance.now();
      await ask(coordinator, 'SELECT citus_create_restore_point($1)', [POINT]);
      endedAtMs = performance.now();
      await flows();
      await load.stop();
      sent = load.sent;
    });
    for (const machine of cluster.machines()) await archiveAll(machine);
    for (const node of cluster.machines().keys()) cluster.killMachine(node);

    await cluster.restore(RECOVERY);
    const [restored = ''] = cluster.machines();
    for (const machine of cluster.machines()) {
      await eventually('the end of the recovery', async () => {
        const [row] = await ask(machine, 'SELECT pg_is_in_recovery() AS recovers').catch(() => []);
        return row?.recovers === false;
      });
    }
    const nodes = await ask(restored, 'SELECT nodeid, groupid FROM pg_dist_node');
    for (const { nodeid, groupid } of nodes) {
      const { hostname, port } = new URL(cluster.machines()[groupid as number] as string);
      await ask(restored, 'SELECT citus_update_node($1, $2, $3)', [nodeid, hostname, port]);
    }
    await eventually('the end of commits that were under way', async () => {
      const left = await Promise.all(
        cluster.machines().map((machine) => ask(machine, 'SELECT FROM pg_prepared_xacts')),
      );
      return left.every((rows) => rows.length === 0);
    });

    const rows = await ask(restored, 'SELECT id::float8 AS id FROM applications');
    const stored = new Set(rows.map(({ id }) => id as number));
    const before = sent.filter(({ answeredAtMs }) => answeredAtMs < beganAtMs);
    const later = sent.filter(({ sentAtMs }) => sentAtMs > endedAtMs);
    assert.ok(before.length >= 40 * BATCH && later.length >= BATCH);
    assert.deepEqual(
      before.filter(({ id }) => !stored.has(id)),
      [],
      'acknowledged before the point, and lost',
    );
    assert.deepEqual(
      later.filter(({ id }) => stored.has(id)),
      [],
      'came after the point',
    );
    // The phones lie on other machines than their applications.
    const held = await ask(
      restored,
      'SELECT application_id::float8 AS id, phone_index FROM open_phones ORDER BY 1',
    );
    assert.deepEqual(held, await ask(restored, OPEN));
    await serveOn(restored, async (url) => {
      const known = before.slice(-BATCH).map(({ application }) => application);
      const unknown = later.slice(-BATCH).map(({ application }) => application);
      const { status, body } = await postUntilServed(url, apiKey, { applications: [...known, ...unknown] });
      assert.equal(status, 200);
      const { results } = body as { results: { id_number: string }[] };
      assert.deepEqual(
        results.map(({ id_number }) => id_number),
        unknown.map(({ id_number }) => id_number),
      );
    });
  });
});

/** Waits until the archive has all that a machine has written. */
async function archiveAll(machine: string): Promise<void> {
  const [row] = await ask(machine, 'SELECT pg_walfile_name(pg_switch_wal()) AS name');
  await eventually('the archive', async () => {
    const [last] = await ask(machine, 'SELECT last_archived_wal AS name FROM pg_stat_archiver');
    return last?.name !== null && (last?.name as string) >= (row?.name as string);
  });
}
