/** A restore of an older moment: what was ended since by the newer backup stays ended, and everybody signs in again. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Exit,
  newDataDir,
  query,
  run,
  scratch,
  secretsOf,
  startService,
  type Variables,
} from './support.ts';

test('a restore to a moment ends again what a newer backup tells, and says so where that is not readable', async () => {
  const dataDir = newDataDir();
  const place = scratch('ended-backups');
  const backups = { BACKUP_TO: place, BACKUP_KEY: randomBytes(32).toString('base64') };
  let variables: Variables = {};
  const ventanilla = (...args: string[]): Promise<Exit> =>
    run(process.execPath, ['src/start.js', ...args], { DATA_DIR: dataDir, ...backups, ...variables }).exit;
  const done = async (...args: string[]) => {
    const { code, out, err } = await ventanilla(...args, '--json');
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  const service = await startService(dataDir, {});
  const { id: key } = await done('key', 'issue', '--partner', '1');
  await done('operator', 'add', '--login', 'ana', '--role', 'admin');
  await done('suppression', 'add', '+573001112233');
  await query(
    dataDir,
    "INSERT INTO operator_sessions (id, secret, operator_id, is_whole) SELECT 'x', 'y', id, true FROM operators WHERE login = 'ana'",
  );
  const { at } = await done('backup', 'create');
  await done('key', 'revoke', `${key}`);
  await done('operator', 'role', 'ana', '--role', 'viewer');
  await done('suppression', 'add', '+573009998877');
  const { backup: newer } = await done('backup', 'create');
  variables = secretsOf(dataDir);
  await service.stop();

  rmSync(dataDir, { recursive: true });
  const restored = await done('backup', 'restore', '--at', at);
  const { until, ...ended } = restored.ended;
  assert.ok(Date.parse(until) > Date.parse(at));
  const ana = (await done('operator', 'list')).find(({ login }: { login: string }) => login === 'ana');
  assert.deepEqual(ended, {
    ...{ sessions: 1, links: 2, keys: [key], suppressions: 1 },
    operators: [{ id: ana.id, lost: 'role or authority' }],
  });
  assert.deepEqual([ana.role, ana.forged], ['viewer', false]);
  assert.equal((await done('key', 'list')).find(({ id }: { id: number }) => id === key).status, 'revoked');
  assert.equal((await done('suppression', 'list')).length, 2);
  assert.equal((await done('audit', 'verify')).ok, true);

  // The newer backup is damaged: the store is restored, and the operator has to know.
  const volume = readdirSync(join(place, newer)).find((name) => name.startsWith('base-'))!;
  assert.ok(existsSync(join(place, newer, volume)));
  writeFileSync(join(place, newer, volume), 'damaged');
  rmSync(dataDir, { recursive: true });
  const blind = await ventanilla('backup', 'restore', '--at', at);
  assert.equal(blind.code, 1);
  assert.match(blind.err, /what was ended after this moment is not known \(.*base-.*\): revoke keys/);
  assert.match(
    blind.out,
    /Ended: 1 session and 2 links of operators, who sign in again\.\nThe place tells nothing/,
  );
  assert.equal((await done('key', 'list')).find(({ id }: { id: number }) => id === key).status, 'live');
});
