/** A backup from before an erasure: its restore erases the person again, or is refused. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { anApplication } from '../support/service.ts';
import {
  demoKeyOf,
  type Exit,
  newDataDir,
  run,
  scratch,
  secretsOf,
  startService,
  submit,
  type Variables,
} from './support.ts';

test('a restore erases again who was erased after the backup, and is refused where the list is damaged', async () => {
  const dataDir = newDataDir();
  const place = scratch('erased-backups');
  const backups = { BACKUP_TO: place, BACKUP_KEY: randomBytes(32).toString('base64') };
  let variables: Variables = {};
  const ventanilla = (...args: string[]): Promise<Exit> =>
    run(process.execPath, ['src/start.js', ...args], { DATA_DIR: dataDir, ...backups, ...variables }).exit;
  const done = async (...args: string[]) => {
    const { code, out, err } = await ventanilla(...args, '--json');
    assert.equal(code, 0, err);
    return JSON.parse(out);
  };
  // The service makes no backups, so that the one by hand is the newest one.
  const service = await startService(dataDir, {});
  const [person, other] = [
    anApplication({ name: 'Persona Ida' }),
    anApplication({ name: 'Persona Presente' }),
  ];
  const { body } = await submit(service, demoKeyOf(service), [person, other]);
  const [gone, stays] = body.results.map(({ id }: { id: number }) => id);
  await done('backup', 'create');
  const phone = String(person.phone);
  // Registered after the moment of the backup, and erased: the restored store has nothing of the person.
  const late = anApplication();
  await submit(service, demoKeyOf(service), [late]);
  await done('subject', 'erase', '--phone', String(late.phone), '--reason', 'x', '--close', '--yes');
  await done('subject', 'erase', '--phone', phone, '--reason', 'x', '--close', '--yes');
  const erasure = (await done('subject', 'erasures')).at(-1).id;
  assert.equal(readdirSync(join(place, 'erasures')).length, 2);
  const object = join(place, 'erasures', erasure);
  const sealed = readFileSync(object);
  assert.ok(!sealed.includes(phone.slice(1)));
  variables = secretsOf(dataDir);
  await service.stop();

  rmSync(dataDir, { recursive: true });
  writeFileSync(object, sealed.subarray(0, -1));
  const refused = await ventanilla('backup', 'restore');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /the erasures in .* cannot be read .*--without-erasures/);
  const verified = await ventanilla('backup', 'verify');
  assert.equal(verified.code, 1);
  assert.match(verified.err, /the erasures in .* cannot be read .* writes a damaged one again/);
  const without = await ventanilla('backup', 'restore', '--without-erasures');
  assert.match(without.out, /Persons who were erased since are there again/);
  assert.equal((await done('application', 'list', '--phone', phone)).length, 1);

  rmSync(dataDir, { recursive: true });
  writeFileSync(object, sealed);
  assert.equal((await done('backup', 'restore')).erased_again, 1);
  assert.deepEqual(await done('application', 'list', '--phone', phone), []);
  const reveal = ['--reveal', '--reason', 'x'];
  const [erased, kept] = [
    await done('application', 'show', `${gone}`, ...reveal),
    await done('application', 'show', `${stays}`, ...reveal),
  ];
  assert.deepEqual([erased.name, erased.status, kept.name], [null, 'rejected', 'Persona Presente']);
  assert.equal((await done('suppression', 'list')).length, 2);
  assert.equal((await done('subject', 'erasures')).length, 2);
  assert.equal((await done('backup', 'verify')).erasures, 2);
});
