/**
 * The program as its users meet it, once through: `npm start`, the command that the first start shows, the chat to the
 * signed contract, a backup, a kill, a restart, the stop, and a restore.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import {
  demoKeyOf,
  emptyDataDir,
  newDataDir,
  nodeStart,
  npmStart,
  pasteShown,
  run,
  scratch,
  secretsOf,
  startService,
  submit,
  ventanilla,
} from '../process/support.ts';
import { anApplication } from '../support/service.ts';

test('a new service takes a batch and a signature, outlives a kill, stops, and comes back from its backup', async (t) => {
  const dataDir = newDataDir();
  const backups = { BACKUP_KEY: randomBytes(32).toString('base64') };
  const service = await startService(dataDir, {}, npmStart);
  const apiKey = demoKeyOf(service);
  const shown = (line: RegExp) => line.exec(service.out)?.[1] ?? '';
  const batch = [anApplication()];
  const keyed = { 'Idempotency-Key': 'before-the-kill' };
  const pasted = async (command: string) => {
    const { code, out, err } = await run('sh', ['-c', command], {}).exit;
    assert.equal(code, 0, err);
    return stripVTControlCharacters(out);
  };

  await t.test(
    'the command of the first start, which is the one of the README, registers an applicant',
    async () => {
      assert.equal((await pasteShown(service)).processed, 1);
    },
  );

  await t.test('the demo plays a chat to the signed contract, and pays it out', async () => {
    const told = await pasted(`${shown(/^ *(.*npm run demo)$/m)} -- --until disbursed --within 900`);
    assert.match(told, /^signed +the contract of application/m);
    assert.match(told, /^disbursed +application \d+ before the end of the time to withdraw/m);
  });

  const first = await submit(service, apiKey, batch, keyed);
  await t.test(
    'what was acknowledged is there after a kill, and the service stops when it is told to',
    async () => {
      await service.kill();
      const again = await startService(dataDir, {}, nodeStart);
      const replay = await submit(again, apiKey, batch, keyed);
      assert.deepEqual([replay.replayed, replay.body], [true, first.body]);
      assert.equal((await again.stop()).code, 0);
    },
  );

  await t.test('a backup is restored, with what was registered', async () => {
    const program = (folder: string, ...args: string[]) =>
      run(process.execPath, ['src/start.js', ...args], {
        DATA_DIR: folder,
        ...backups,
        ...secretsOf(dataDir),
      }).exit;
    const made = await program(dataDir, 'backup', 'create', '--to', scratch('backups'));
    assert.equal(made.code, 0, made.err);
    const elsewhere = emptyDataDir();
    const restored = await program(elsewhere, 'backup', 'restore', '--from', scratch('backups'));
    assert.equal(restored.code, 0, restored.err);
    const ids = async (list: Promise<{ out: string }>) =>
      JSON.parse((await list).out).map(({ id }: { id: number }) => id);
    assert.deepEqual(
      await ids(program(elsewhere, 'application', 'list', '--json')),
      await ids(ventanilla(dataDir, 'application', 'list', '--json')),
    );
  });
});
