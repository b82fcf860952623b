/** A restore whose process was killed, two restores at once, and a service that starts during one. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { restoreBackup } from '../../src/subjects/backup/restore.ts';
import { verifyBackup } from '../../src/subjects/backup/verify.ts';
import { eventually } from '../support/eventually.ts';
import { keyBytes, marksOf, newFolder, newPlace, newStore, options, root } from './support.ts';

const store = await newStore();
const place = newPlace();
await store.mark('kept');
await store.create(place);
const nothing = async () => {};

const running: ChildProcess[] = [];
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process that has begun to restore into a folder, and waits with a running server until it is killed. */
async function beginRestore(dataDir: string): Promise<ChildProcess> {
  const text = `
    import { restoreBackup } from ${JSON.stringify(`${import.meta.dirname}/../../src/subjects/backup/restore.ts`)};
    import { Folder } from ${JSON.stringify(`${import.meta.dirname}/../../src/ground/places/folder.ts`)};
    import { BACKUPS } from ${JSON.stringify(`${import.meta.dirname}/../../src/subjects/backup/place-of-backups.ts`)};
    import { machineClock } from ${JSON.stringify(`${import.meta.dirname}/../../src/ground/base/clock.ts`)};
    import { BackupKey } from ${JSON.stringify(`${import.meta.dirname}/../../src/subjects/backup/sealed.ts`)};
    const [key, from, to] = process.argv.slice(1);
    const check = () => { process.stdout.write('recovered'); return new Promise(() => setInterval(() => {}, 1e6)); };
    await restoreBackup(to, { place: new Folder(from, BACKUPS), key: new BackupKey(Buffer.from(key, 'hex')), check,
      signal: new AbortController().signal, clock: machineClock });`;
  const args = ['--input-type=module', '-e', text, keyBytes, place.address, dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  let out = '';
  child.stdout?.on('data', (data) => {
    out += data;
  });
  await eventually('the recovered server', () => out.includes('recovered'));
  return child;
}

describe('a restore whose process was killed', () => {
  it('can be begun again at once: its server and its files are gone', async () => {
    const dataDir = newFolder();
    const child = await beginRestore(dataDir);
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    let marks = '';
    const check = async (connection: Parameters<typeof marksOf>[0]) => {
      marks = await marksOf(connection);
    };
    await restoreBackup(dataDir, { ...options, place, check });
    assert.equal(marks, 'kept');
    assert.deepEqual(readdirSync(dataDir).sort(), ['postgres', 'postgres.log', 'postgres.password']);
  });

  it('leaves room for a service that starts instead', async () => {
    const dataDir = newFolder();
    const child = await beginRestore(dataDir);
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    const server = await openEmbedded({ dataDir, clock: machineClock });
    await server.close();
    assert.equal(
      readdirSync(dataDir).some((name) => name.includes('.making-')),
      false,
    );
  });
});

describe('a restore under way', () => {
  it('refuses another one into the same folder, and the start of a service there', async () => {
    const dataDir = newFolder();
    await beginRestore(dataDir);
    const again = restoreBackup(dataDir, { ...options, place, check: nothing });
    await assert.rejects(
      again,
      (error) => error instanceof BackupError && /another restore into/.test(`${error}`),
    );
    await assert.rejects(
      openEmbedded({ dataDir, clock: machineClock }),
      /a restore into .* is under way: start when it is over/,
    );
  });
});

describe('backup verify', () => {
  it('removes what a killed one left', async () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = root;
    after(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    mkdirSync(join(root, 'ventanilla-verify.making-999999999-00000000', 'postgres'), { recursive: true });
    await verifyBackup({ ...options, place }, async () => {}).catch(() => {});
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('ventanilla-verify')),
      [],
    );
  });
});
