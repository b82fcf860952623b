/**
 * `npm run bench:backup`: how fast a backup of the embedded store is made and restored, beside what the disk takes.
 * Half of the store's bytes do not compress, as sealed data does not. `--mib N` is its size, `--folder PATH` the disk.
 * No bars: the disk decides. `backup verify` is not measured: its time depends on the tables.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { machineClock } from '../src/ground/base/clock.ts';
import { administer } from '../src/ground/embedded/administer.ts';
import { openEmbedded } from '../src/ground/embedded/server.ts';
import { Folder } from '../src/ground/places/folder.ts';
import { createBackup } from '../src/subjects/backup/create.ts';
import { BACKUPS } from '../src/subjects/backup/place-of-backups.ts';
import { restoreBackup } from '../src/subjects/backup/restore.ts';
import { BackupKey } from '../src/subjects/backup/sealed.ts';
import { numberOption, readOptions } from './options.ts';

const MIB = 1024 * 1024;
const BLOCK_BYTES = 8 * MIB;
/** A chunk of rows: 100 MiB. */
const FILL = `
  INSERT INTO filling SELECT gen_random_bytes(1000) || decode(repeat('00ab12', 333), 'hex')
  FROM generate_series(1, 50000)`;

const values = readOptions({
  mib: { default: '3000', about: 'size of the store' },
  folder: { default: tmpdir(), about: 'a folder on the disk to measure' },
});
const mib = numberOption('mib', values.mib, 100);
const { signal } = new AbortController();
const folder = await mkdtemp(join(values.folder, 'ventanilla-bench-backup-'));
try {
  await run();
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function run(): Promise<void> {
  const dataDir = join(folder, 'data');
  const options = {
    place: new Folder(join(folder, 'place'), BACKUPS),
    key: new BackupKey(randomBytes(32)),
    signal,
  };
  const server = await openEmbedded({ dataDir, clock: machineClock });
  await fill(server.superuser);
  print('the disk: a file written and synced', await timed(writeFile));
  const created = await timed(async () => {
    const { bytes } = await administer(dataDir, machineClock, (session) =>
      createBackup(session, { ...options, keepLog: false, rest: 0 }),
    );
    return bytes;
  });
  await server.close();
  print('backup create', created);
  print(
    'backup restore',
    await timed(async () => {
      const restore = { ...options, clock: machineClock, check: async () => {} };
      return (await restoreBackup(join(folder, 'restored'), restore)).bytes;
    }),
  );
}

async function fill(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  await client.query('CREATE EXTENSION pgcrypto; CREATE TABLE filling (bytes bytea STORAGE EXTERNAL)');
  for (let done = 0; done < mib; done += 100) await client.query(FILL);
  await client.query('CHECKPOINT');
  await client.end();
}

/** Writes as many bytes as the store has, through the cache of the system, and waits until the disk has them. */
async function writeFile(): Promise<number> {
  const file = await open(join(folder, 'file'), 'w');
  const block = randomBytes(BLOCK_BYTES);
  for (let written = 0; written < mib * MIB; written += BLOCK_BYTES) await file.write(block);
  await file.sync();
  await file.close();
  await rm(join(folder, 'file'));
  return mib * MIB;
}

async function timed(work: () => Promise<number>) {
  const [sinceMs, cpu] = [performance.now(), process.cpuUsage()];
  const bytes = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { bytes, seconds: (performance.now() - sinceMs) / 1_000, cpuSeconds: (user + system) / 1e6 };
}

function print(what: string, { bytes, seconds, cpuSeconds }: Awaited<ReturnType<typeof timed>>): void {
  const rate = Math.round(bytes / MIB / seconds);
  const cpu = ((cpuSeconds * 1_000 * MIB) / bytes).toFixed(1);
  console.log(
    `${what}: ${rate} MiB/s (${Math.round(bytes / MIB)} MiB in ${seconds.toFixed(1)} s), ${cpu} ms of CPU a MiB`,
  );
}
