/** A lost disk: the service starts on a backup that another disk has, and knows what it acknowledged. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { SERVICE_ROLE } from '../../src/ground/embedded/join.ts';
import { anApplication } from '../support/service.ts';
import {
  demoKeyOf,
  type Exit,
  killHard,
  newDataDir,
  postmasterPid,
  query,
  run,
  scratch,
  secretsOf,
  startService,
  submit,
  until,
  type Variables,
} from './support.ts';

test('a lost disk costs nothing that was acknowledged before the backup', async () => {
  const dataDir = newDataDir();
  const place = scratch('backups');
  const backups = { BACKUP_TO: place, BACKUP_KEY: randomBytes(32).toString('base64') };
  const ventanilla = (...args: string[]): Promise<Exit> =>
    run(process.execPath, ['src/start.js', ...args], {
      ...{ DATA_DIR: dataDir, OPERATOR: 'Luz' },
      ...backups,
      ...variables,
    }).exit;
  const backup = (...args: string[]) => ventanilla('backup', ...args);
  const recorded = async () =>
    JSON.parse((await ventanilla('audit', 'list', '--json')).out).map(
      (row: { act: string; by: string; target: string | null }) => [row.act, row.by, row.target],
    );
  let variables: Variables = {};
  const service = await startService(dataDir, backups);
  const apiKey = demoKeyOf(service);
  const batch = [anApplication(), anApplication()];
  const first = await submit(service, apiKey, batch, { 'Idempotency-Key': 'before-the-loss' });
  assert.equal(first.status, 200);

  const file = join(dataDir, 'documents', 'document-00', 'aa');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'a sealed statement');
  await query(
    dataDir,
    `INSERT INTO documents (application_id, partner_id, purpose, state, file_key)
     VALUES (${first.body.results[0].id}, 1, 'earnings', 'received', 'document-00/aa')`,
  );

  // Of two backups at once one is refused.
  await until('the backup that the service makes by itself', () => /"msg":"backup made"/.test(service.out));
  const byHand = await backup('create', '--to', scratch('by-hand'), '--json');
  assert.equal(byHand.code, 0, byHand.err);
  assert.deepEqual((await recorded())[0], ['backup create', 'Luz', null]);
  // The last backup restores the moment at which it was made, so nothing may be registered after this.
  const copied = await backup('create', '--json');
  assert.equal(copied.code, 0, copied.err);
  variables = secretsOf(dataDir);
  await killHard(service.nodePid);
  await killHard(postmasterPid(dataDir) as number);
  rmSync(dataDir, { recursive: true });

  const checked = await backup('verify', '--json');
  assert.equal(checked.code, 0, checked.err);
  assert.deepEqual([JSON.parse(checked.out).ok, JSON.parse(checked.out).files], [true, 1]);
  const wrong = { ...variables, INDEX_KEY: randomBytes(32).toString('base64') };
  const right = variables;
  variables = wrong;
  const refused = await backup('restore');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /INDEX_KEY is not the one that this database was made with/);
  variables = right;
  const restored = await backup('restore');
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.out, /Put back 1 file of documents and contracts/);
  // That of the service is chosen where its log was archived once more after the one by command.
  const chosen = /^Restored backup (00000[12]-[0-9a-f]{8}):/m.exec(restored.out)?.[1];
  assert.equal(readFileSync(file, 'utf8'), 'a sealed statement');

  const again = await startService(dataDir, { ...variables });
  const replay = await submit(again, apiKey, batch, { 'Idempotency-Key': 'before-the-loss' });
  assert.deepEqual([replay.replayed, replay.body], [true, first.body]);
  const sessions = `SELECT DISTINCT usesysid::regrole::text AS role FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  assert.deepEqual(await query(dataDir, sessions), [{ role: SERVICE_ROLE }]);
  const [[act, by, target]] = await recorded();
  assert.deepEqual([act, by], ['backup restore', 'Luz']);
  assert.match(target, new RegExp(`^backup ${chosen} to 20\\d\\d-`));
  assert.equal((await ventanilla('audit', 'verify')).code, 0);
  await again.stop();
});
