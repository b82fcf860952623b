/**
 * `npm run bench:citus`: measures one service on plain PostgreSQL and on Citus clusters of 1, 2 and 4 workers, in turn.
 * Prints the rates of registration, the CPU of each machine's server, and the bars of docs/scale.md. The exit code is 1
 * where a bar is missed. `--seconds N` a phase, `--rounds N`.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { distributeFor } from '../src/ground/schema/distribution.ts';
import { migrate } from '../src/ground/schema/migrations.ts';
import { grantRuntime } from '../src/ground/schema/runtime-role.ts';
import { Vault } from '../src/seal/vault.ts';
import { makeKey } from '../src/subjects/partners/uses/keys.ts';
import { CitusCluster, findCitus } from '../test/support/citus-cluster.ts';
import { remac } from '../test/support/remac.ts';
import { as, makeRuntimeRole, RUNTIME_ROLE, runtimePassword } from '../test/support/runtime-role.ts';
import { type Bar, judge } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { type Measured, median, worker } from './phase.ts';
import { parentOf, serverCpuMs } from './processes.ts';

const values = readOptions({
  seconds: { default: '2', about: 'seconds of a phase' },
  rounds: { default: '3', about: 'interleaved rounds' },
});
const ms = numberOption('seconds', values.seconds, 0.1) * 1000;
const rounds = numberOption('rounds', values.rounds, 1);

const key = (name: string) => createHash('sha256').update(name).digest();
const SECRETS = {
  dataKeys: new Map([[1, key('data')]]),
  indexKey: key('index'),
  apiKeyPepper: key('pepper'),
};
const ENVIRONMENT = {
  DATA_KEYS: `1:${SECRETS.dataKeys.get(1)?.toString('base64')}`,
  INDEX_KEY: SECRETS.indexKey.toString('base64'),
  API_KEY_PEPPER: SECRETS.apiKeyPepper.toString('base64'),
  CHANNEL: 'log',
  DELIVERY: 'off',
  LOG_LEVEL: 'warn',
  PORT: '0',
  OPS_PORT: '0',
};
const ADD_PARTNER = `
  WITH partner AS (INSERT INTO partners (name, country) VALUES ('bench', 'CO') RETURNING id),
    usage AS (INSERT INTO usage_totals (partner_id) SELECT id FROM partner)
  INSERT INTO api_keys (partner_id, digest, hint, pepper) SELECT id, $1, $2, $3 FROM partner`;
const PHASES = [
  { name: '64 clients, batches of 100', concurrency: 64, size: 100 },
  { name: '64 clients, batches of 1', concurrency: 64, size: 1 },
  { name: 'one client, batches of 1', concurrency: 1, size: 1 },
];

interface Figures extends Measured {
  /** Microseconds an application, by machine. */
  readonly cpu: readonly number[];
}

interface Store {
  readonly name: string;
  readonly cluster: CitusCluster;
  readonly url: string;
  readonly apiKey: string;
  readonly postmasters: readonly number[];
  readonly figures: Figures[][];
  stop(): void;
}

async function startStore(bin: string, workers: number): Promise<Store> {
  const cluster = await CitusCluster.start(bin, workers);
  try {
    return await serveOn(cluster, workers);
  } catch (error) {
    cluster.stop();
    throw error;
  }
}

async function serveOn(cluster: CitusCluster, workers: number): Promise<Store> {
  const machines = cluster.machines();
  const connectionString = machines[0] as string;
  const database = openDatabase({ connectionString }, { max: 1, onError: () => {}, clock: machineClock });
  await migrate(database, machineClock);
  await makeRuntimeRole(machines);
  await grantRuntime(database, RUNTIME_ROLE);
  const serviceUrl = as(connectionString, RUNTIME_ROLE, runtimePassword(connectionString));
  if (workers > 0) {
    const runtime = openDatabase(
      { connectionString: serviceUrl },
      { max: 1, onError: () => {}, clock: machineClock },
    );
    await distributeFor(database, runtime);
    await runtime.end();
  }
  const vault = new Vault(SECRETS);
  const { apiKey, text } = makeKey(vault, null);
  await database.query(ADD_PARTNER, [text.digest, text.hint, text.pepper]);
  await remac({ database, vault });
  await database.end();
  const postmasters = await Promise.all(machines.map(postmasterOf));
  const child = spawn(process.execPath, ['src/start.js', 'serve'], {
    env: { ...process.env, ...ENVIRONMENT, DATABASE_URL: serviceUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let told = '';
    child.stdout.on('data', (chunk) => {
      told += chunk;
      const found = /(http:\S+\/PRO) /.exec(told)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', () => reject(new Error('the service ended')));
  });
  const name = workers === 0 ? 'plain PostgreSQL' : `Citus, ${workers} workers`;
  const stop = () => {
    child.kill();
    cluster.stop();
  };
  return { name, cluster, url, apiKey, postmasters, figures: PHASES.map(() => []), stop };
}

async function postmasterOf(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const pid = parentOf(rows[0].pid);
  await client.end();
  return pid;
}

const bin = findCitus();
if (bin === null)
  throw new Error("Citus is not installed. Set CITUS_BIN to the folder of its PostgreSQL's programs");
const stores: Store[] = [];
const loader = worker<object>('./load.ts');
try {
  for (const workers of [0, 1, 2, 4]) stores.push(await startStore(bin, workers));
  let stream = 1;
  for (let round = 0; round <= rounds; round += 1) {
    for (const [place, { concurrency, size }] of PHASES.entries()) {
      for (const { url, apiKey, postmasters, figures } of stores) {
        const before = postmasters.map(serverCpuMs);
        const measured = await loader.run({ url, apiKey, concurrency, size, ms, stream: stream++ });
        const count = (measured.applicationsPerSecond * ms) / 1000;
        const cpu = postmasters.map((pid, n) => ((serverCpuMs(pid) - (before[n] as number)) * 1000) / count);
        // The first round warms up.
        if (round > 0) figures[place]?.push({ ...measured, cpu });
      }
    }
  }
} finally {
  loader.stop();
  for (const store of stores) store.stop();
}

const of = (store: Store, place: number, figure: (figures: Figures) => number) =>
  median((store.figures[place] ?? []).map(figure));
const total = ({ cpu }: Figures) => cpu.reduce((sum, one) => sum + one, 0);
for (const [place, { name }] of PHASES.entries()) {
  console.log(
    `\n| ${name} | applications/s | p50 ms | PostgreSQL CPU us an application | by machine |\n| --- | --- | --- | --- | --- |`,
  );
  for (const store of stores) {
    const byMachine = store.postmasters
      .map((_, n) => of(store, place, ({ cpu }) => cpu[n] ?? 0).toFixed(1))
      .join(' + ');
    console.log(
      `| ${store.name} | ${Math.round(of(store, place, (f) => f.applicationsPerSecond))} | ${of(store, place, (f) => f.p50).toFixed(1)} | ${of(store, place, total).toFixed(1)} | ${byMachine} |`,
    );
  }
}

const [plain, one, two, four] = stores as [Store, Store, Store, Store];
const rate = (store: Store) => of(store, 0, (f) => f.applicationsPerSecond);
const bars: Bar[] = [
  {
    name: 'Citus over plain, batches of 100',
    figure: rate(two) / rate(plain),
    direction: 'at least',
    bound: 0.35,
  },
  {
    name: 'alone on Citus, p50',
    figure: of(two, 2, (f) => f.p50),
    direction: 'at most',
    bound: 10,
    unit: 'ms',
  },
  {
    name: 'CPU of 4 workers over that of 1',
    figure: of(four, 0, total) / of(one, 0, total),
    direction: 'at most',
    bound: 1.2,
  },
];
judge(bars);
