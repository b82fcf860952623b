/**
 * `npm run bench:backup-beside`: a service registers batches of 100 under full load, alone and beside a backup of its
 * store: its own one, and `backup create`. Prints the share of the registrations that is left, of those just before the
 * backup. The exit code is 1 where a bar is missed. `--mib N` that do not compress lie in the store, `--seconds N` a
 * phase, `--rounds N`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupsOf, manifestName } from '../src/subjects/backup/names.ts';
import { type Bar, judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { type Measured, median, worker } from './phase.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  seconds: { default: '15', about: 'seconds of a phase' },
  rounds: { default: '3', about: 'interleaved rounds' },
  mib: { default: '1000', about: 'MiB in the store before it begins' },
});
const seconds = numberOption('seconds', options.seconds, 1);
const rounds = numberOption('rounds', options.rounds, 1);
const mib = numberOption('mib', options.mib, 100);

/** 100 MiB. */
const FILL =
  'INSERT INTO filling SELECT gen_random_bytes(1000) || gen_random_bytes(1000) FROM generate_series(1, 52429)';
/** The upkeep, which begins a backup, comes every 15 seconds. */
const BEGUN_WITHIN_MS = 120_000;
const ENDED_WITHIN_MS = 900_000;

const places = await mkdtemp(join(tmpdir(), 'ventanilla-bench-places-'));
const [ownPlace, place] = [join(places, 'own'), join(places, 'command')];
const backup = { BACKUP_KEY: randomBytes(32).toString('base64') };
const service = await startServiceProcess({ ...backup, BACKUP_TO: ownPlace });
const loader = worker<object, Measured>('./load.ts');
const own: Pair[] = [];
const command: Pair[] = [];

/** Applications a second. */
interface Pair {
  readonly alone: number;
  readonly beside: number;
}
try {
  await fill();
  let stream = 1;
  const { url, apiKey } = service;
  const load = async () =>
    (await loader.run({ url, apiKey, concurrency: 16, size: 100, ms: seconds * 1_000, stream: stream++ }))
      .applicationsPerSecond;
  await until(() => isFinished(ownPlace), ENDED_WITHIN_MS, 'the first backup is finished');
  await load();
  for (let round = 0; round < rounds; round += 1) {
    let alone = await load();
    await empty(ownPlace);
    await until(() => isUnderWay(ownPlace), BEGUN_WITHIN_MS, 'the service begins a backup');
    own.push({ alone, beside: await load() });
    await stillUnderWay(ownPlace);
    await until(() => isFinished(ownPlace), ENDED_WITHIN_MS, 'the backup is finished');
    alone = await load();
    await empty(place);
    const creating = create();
    await until(() => isUnderWay(place), BEGUN_WITHIN_MS, 'the command begins a backup');
    command.push({ alone, beside: await load() });
    await stillUnderWay(place);
    await ended(creating);
  }
} finally {
  loader.stop();
  await service.stop();
  await rm(places, { recursive: true, force: true, maxRetries: 10 });
}
tell('beside the backup of the service', own);
tell('beside backup create', command);
judge([
  share('registrations beside the backup of the service, share of those alone', own),
  share('registrations beside backup create, share of those alone', command),
]);

function tell(name: string, pairs: readonly Pair[]): void {
  const texts = pairs.map(({ alone, beside }) => `${number(beside)} of ${number(alone)}`);
  console.log(`${name}: ${texts.join(', ')} applications/s`);
}

function share(name: string, pairs: readonly Pair[]): Bar {
  const figure = median(pairs.map(({ alone, beside }) => beside / alone));
  return { name, figure, direction: 'at least', bound: 0.9 };
}

async function fill(): Promise<void> {
  await service.admin.query('CREATE EXTENSION pgcrypto; CREATE TABLE filling (bytes bytea STORAGE EXTERNAL)');
  for (let done = 0; done < mib; done += 100) await service.admin.query(FILL);
  await service.admin.query('CHECKPOINT');
}

function create(): ChildProcess {
  const env = { ...process.env, ...backup, DATA_DIR: service.dataDir, LOG_LEVEL: 'warn' };
  const args = ['src/start.js', 'backup', 'create', '--to', place];
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function ended(creating: ChildProcess): Promise<void> {
  const code = creating.exitCode ?? (await new Promise((resolve) => creating.once('exit', resolve)));
  if (code !== 0) throw new Error(`backup create ended with ${code}`);
}

/** A service that goes on copying writes into the folder meanwhile. */
async function empty(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.map((name) => name.replaceAll('\\', '/'));
}

async function isFinished(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return backupsOf(names).some((name) => names.includes(manifestName(name)));
}

async function isUnderWay(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return names.some((name) => name.includes('/base-')) && !(await isFinished(folder));
}

async function stillUnderWay(folder: string): Promise<void> {
  if (!(await isUnderWay(folder))) throw new Error('the backup ended before the load: set --mib higher');
}

async function until(holds: () => Promise<boolean>, ms: number, what: string): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(100)) {
    if (await holds()) return;
  }
  throw new Error(`no sign within ${ms / 1_000} s that ${what}`);
}
