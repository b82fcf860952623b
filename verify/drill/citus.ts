/**
 * `npm run drill:citus`: a coordinator, a pair of machines as one Citus worker and a single machine as another, each
 * group under Patroni, the service before them, and partners that send all the time. The primary of the pair is killed
 * with SIGKILL `--kills N` times, and its standby becomes the worker. The exit code is 1 if an acknowledged application
 * is missing afterwards, or an application is stored twice.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { numberOption, readOptions } from '../../bench/options.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { distribute } from '../../src/ground/schema/distribution.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { findCitus } from '../../test/support/citus-cluster.ts';
import { etcdIn } from './cluster.ts';
import { requirePrograms } from './debian.ts';
import { Load } from './load.ts';
import { Node, PASSWORD } from './node.ts';
import { startService } from './service.ts';

const NAME = 'ventanilla';
const SENDERS = 4;
const CALM_MS = 3_000;
const WAIT_MS = 180_000;
const POLL_MS = 100;
/** The group of Citus of each node; the coordinator's is 0. */
const GROUPS = [0, 1, 1, 2];
const FOLLOWERS = "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'";
const PREPARED = 'SELECT FROM pg_prepared_xacts';

const values = readOptions({ kills: { default: '4', about: 'how many primaries of the pair are killed' } });
const kills = numberOption('kills', values.kills, 1);
requirePrograms();
if (findCitus() === null) {
  console.error('error: Citus is not installed');
  process.exit(1);
}

const start = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'ventanilla-drill-'));
chmodSync(folder, 0o755);
const { daemon: etcd, port } = await etcdIn(folder);
const nodes: Node[] = [];
for (const [place, group] of GROUPS.entries()) {
  nodes.push(await Node.make(folder, `node${place}`, port, { database: NAME, group }));
}
process.on('exit', abandon);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

etcd.start();
const [coordinator, ...workers] = nodes as [Node, ...Node[]];
const pair = nodes.filter((_, place) => GROUPS[place] === 1);
await Promise.all(nodes.map((node) => node.start()));
await makeDatabase();
const databaseUrl = `postgres://${NAME}:${PASSWORD}@127.0.0.1:${coordinator.port}/${NAME}`;
const database = openDatabase(
  { connectionString: databaseUrl },
  { max: 1, onError() {}, clock: machineClock },
);
await migrate(database, machineClock);
await distribute(database);
await database.end();
const { service, url, apiKey } = await startService(databaseUrl, join(folder, 'service.log'));
const load = new Load(url, apiKey, SENDERS);
await load.flows();
say(`a coordinator and two Citus workers, one of them a pair; logs in ${folder}`);

const gaps: number[] = [];
for (let count = 1; count <= kills; count += 1) {
  await sleep(CALM_MS);
  const primary = await wholePair();
  load.takeLongestGap();
  if (count % 2 === 0) await primary.killPatroni();
  primary.killPostgres();
  const next = await wait('another primary', async () => {
    const other = await primaryOf(pair);
    return other === primary ? null : other;
  });
  await load.flows();
  await primary.start();
  await wholePair();
  await load.flows();
  gaps.push(load.takeLongestGap());
  const lost = count % 2 === 0 ? 'both, as with its machine' : 'its PostgreSQL';
  say(
    `kill ${count}: ${primary.name} loses ${lost}; ${next.name} is the worker; ${seconds(gaps.at(-1) as number)} between two 200s`,
  );
}
await load.stop();
await wait('the prepared transactions to be resolved', async () => {
  const left = await Promise.all(
    [coordinator, await wholePair(), workers.at(-1) as Node].map((node) => ask(node, NAME, PREPARED)),
  );
  return left.every((rows) => rows.length === 0) ? true : null;
});
const rows = await ask<{ id: string }>(coordinator, NAME, 'SELECT id FROM applications');
const { code } = await service.stop();
report(rows.map(({ id }) => Number(id)));

/** The database of the service's role, on all groups, which Patroni has made known to the coordinator. */
async function makeDatabase(): Promise<void> {
  await wholePair();
  await wait('the workers to be known', async () => {
    const known = await ask(coordinator, NAME, 'SELECT FROM pg_dist_node WHERE groupid > 0').catch(() => []);
    return known.length === 2 ? true : null;
  });
  // Citus makes a role of the coordinator on the workers.
  await ask(coordinator, NAME, `CREATE ROLE ${NAME} LOGIN PASSWORD '${PASSWORD}'`);
  for (const node of [coordinator, await wholePair(), workers.at(-1) as Node]) {
    await ask(node, 'postgres', `ALTER DATABASE ${NAME} OWNER TO ${NAME}`);
  }
}

async function primaryOf(group: readonly Node[]): Promise<Node | null> {
  for (const node of group) if (await node.isPrimary()) return node;
  return null;
}

/** Waits until the standby of the pair has every commit, and returns the primary. */
function wholePair(): Promise<Node> {
  return wait('a pair that is whole', async () => {
    const primary = await primaryOf(pair);
    if (primary === null) return null;
    const followers = await ask(primary, 'postgres', FOLLOWERS).catch(() => []);
    return followers.length === 1 && (await primary.roles()).includes('sync_standby') ? primary : null;
  });
}

async function wait<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}; see ${folder}`);
    await sleep(POLL_MS);
  }
}

async function ask<Row extends pg.QueryResultRow>(node: Node, to: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: node.port, user: 'postgres', password: PASSWORD, database: to },
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    void client.end().catch(() => {});
  }
}

function report(stored: readonly number[]): void {
  const inStore = new Set(stored);
  const lost = load.ids.filter((id) => !inStore.has(id)).length;
  const doubled = stored.length - inStore.size + (load.ids.length - new Set(load.ids).size);
  const unknown = stored.length - (load.ids.length - lost);
  const answers = [...load.answers].map(([answer, count]) => `${answer}: ${count.toLocaleString('en-US')}`);
  console.log(`\nanswers: ${answers.join(', ')}`);
  console.log(`between two 200s: ${gaps.map(seconds).join(', ')}`);
  console.log(
    `${load.ids.length.toLocaleString('en-US')} applications acknowledged, ${lost} lost, ${doubled + unknown} doubled, in ${gaps.length} kills`,
  );
  const isGood = lost === 0 && doubled === 0 && unknown === 0 && code === 0;
  if (!isGood) console.error(`FAILED; logs in ${folder}`);
  abandon();
  if (isGood) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  process.exit(isGood ? 0 : 1);
}

/** Leaves nothing running. */
function abandon(): void {
  for (const node of nodes) node.abandon();
  if (etcd.pid !== null) process.kill(etcd.pid, 'SIGKILL');
}

function say(text: string): void {
  console.log(`at ${seconds(performance.now() - start)}: ${text}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
