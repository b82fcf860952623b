/** The files of documents and contracts lie in the place of backups too, sealed, for as long as a backup needs them. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { copyAllFiles, FileCopies, fileFault, takeFiles } from '../../src/app/backup/file-copies.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { ReadSetting } from '../../src/ground/base/setting.ts';
import { copiesIn, copyName, forgetCopies } from '../../src/subjects/backup/files.ts';
import { manifestName } from '../../src/subjects/backup/names.ts';
import { openFilePlace } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';
import { newFileKey, storedLately } from '../../src/subjects/documents/store/document-store.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { ANA, documentStage } from '../documents/support.ts';

const stage = await documentStage();
const { apply, sent, receive, database, runtime, files, dataDir } = stage;
const statement = () =>
  Buffer.concat([
    statementPdf({ layout: 'rodar-co-1', ...ANA, issued: '2026-11-12', months: { '2026-10': 2_402_000 } }),
    Buffer.from(`\n%${randomUUID()}`),
  ]);
const settingOf =
  (folder: string): ReadSetting =>
  ({ read }) =>
    read(undefined, { dataDir: folder, ownDatabase: true });
const setting = settingOf(dataDir);
const place = async (name: string) => ({
  place: await openFilePlace(join(dataDir, name), null, machineClock),
  key: new BackupKey(randomBytes(32)),
});
const source = {
  database: runtime,
  clock: machineClock,
  setting,
  failed: (_work: string, error: unknown) => assert.fail(String(error)),
  stopping: new AbortController().signal,
};
/** A document with its file. */
const stored = async () => {
  const { documentId } = await receive(sent(await apply(), statement()));
  const { rows } = await database.query('SELECT file_key FROM documents WHERE id = $1', [documentId]);
  return { id: documentId, key: rows[0].file_key as string };
};
/** A signed contract with both of its PDFs. */
const contract = async () => {
  const keys = [newFileKey('contract'), newFileKey('contract')];
  for (const key of keys) await files.put(key, Buffer.from(`sealed ${key}`));
  await database.query(
    `INSERT INTO loan_contracts (application_id, state, elapsed_ms, shown_key, signed_key, signed_sha256)
     VALUES ($1, 'signed', 0, $2, $3, '\\x00')`,
    [await apply(), ...keys],
  );
  return keys;
};
const partOf = (key: string) => key.slice(0, key.indexOf('/') + 1);
const hasCopy = async (to: Awaited<ReturnType<typeof place>>, key: string) =>
  (await copiesIn(to, partOf(key))).has(key);

describe('files in the place of backups', () => {
  let keys: string[];
  before(async () => {
    keys = [(await stored()).key, ...(await contract())];
  });

  it('what a service stores is there after its next turn, and nothing of it is readable', async () => {
    const to = await place('lately');
    await new FileCopies(to).turn(source);
    for (const key of keys) {
      assert.ok(await hasCopy(to, key), key);
      const copy = readFileSync(join(dataDir, 'lately', copyName(key)));
      assert.ok(!copy.includes(readFileSync(join(dataDir, 'documents', key)).subarray(-30)));
    }
  });

  it('what another process has stored, or one that died, is found by its part', async () => {
    const { key } = await stored();
    storedLately('document');
    const to = await place('parts');
    const copies = new FileCopies(to);
    for (let turn = 0; turn < 512 / 8; turn += 1) await copies.turn(source);
    assert.ok(await hasCopy(to, key));
  });

  it('go back into an empty store of documents byte by byte, and a second time changes nothing', async () => {
    const to = await place('restore');
    const copied = await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    assert.ok(copied >= keys.length);
    assert.equal(await copyAllFiles({ database: runtime, setting, clock: machineClock }, to), 0);
    const home = join(dataDir, 'new-home');
    const found = await takeFiles({ database: runtime, clock: machineClock }, to, settingOf(home));
    assert.deepEqual(found, { whole: copied, missing: [], damaged: [] });
    assert.equal(fileFault(found, 'x'), null);
    for (const key of keys) {
      const path = (folder: string) => readFileSync(join(folder, 'documents', key));
      assert.ok(path(home).equals(path(dataDir)), key);
    }
    assert.deepEqual(await takeFiles({ database: runtime, clock: machineClock }, to, settingOf(home)), found);
  });

  it('a copy that is missing, changed, exchanged or sealed with another key is told by its name', async () => {
    const to = await place('faults');
    await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    const [one, two, three] = keys.map(copyName) as [string, string, string];
    const whole = (await to.place.get(one))!;
    const changed = Buffer.from(whole);
    changed[whole.length - 1]! ^= 1;
    await to.place.put(one, changed);
    await to.place.put(two, whole);
    await to.place.remove(three);
    const found = await takeFiles({ database: runtime, clock: machineClock }, to, null);
    assert.deepEqual([found.missing, [...found.damaged].sort()], [[three], [one, two].sort()]);
    const fault = fileFault(found, '/mnt/backups');
    assert.match(
      fault ?? '',
      /1 file of documents and contracts is missing in \/mnt\/backups \(file-contract-/,
    );
    assert.match(fault ?? '', /2 do not open/);
    const other = { ...to, key: new BackupKey(randomBytes(32)) };
    assert.equal((await takeFiles({ database: runtime, clock: machineClock }, other, null)).whole, 0);
  });

  it('a file that is known to be lost is not asked for', async () => {
    const { id, key } = await stored();
    await database.query('UPDATE documents SET missing_at = now() WHERE id = $1', [id]);
    await files.delete(key);
    const to = await place('lost');
    await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    assert.deepEqual((await takeFiles({ database: runtime, clock: machineClock }, to, null)).missing, []);
  });

  it('a copy stays while a backup may have a row for it, and goes with the last of these', async () => {
    const to = await place('gone');
    const finish = (backup: string) => to.place.put(manifestName(backup), Buffer.from('made'));
    const [first, second] = ['000001-aaaaaaaa', '000002-bbbbbbbb'] as const;
    const { id, key } = await stored();
    await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    await finish(first);
    const copies = new FileCopies(to);
    await copies.forget(source, first);
    await database.query('SELECT delete_documents(ARRAY[$1::bigint])', [id]);
    await finish(second);
    await copies.forget(source, second);
    assert.ok(await hasCopy(to, key), 'the first backup has its row');
    await to.place.clear(first);
    await finish('000003-cccccccc');
    await copies.forget(source, '000003-cccccccc');
    assert.equal(await hasCopy(to, key), false);
    for (const other of keys) assert.ok(await hasCopy(to, other), other);
  });

  it('a copy whose row a restore brought back is kept', async () => {
    const to = await place('back');
    await to.place.put(manifestName('000001-aaaaaaaa'), Buffer.from('made'));
    const { key } = await stored();
    await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    await forgetCopies(to, '000001-aaaaaaaa', [key]);
    assert.ok(!(await hasCopy(to, key)), 'gone in the oldest backup, and now');
    await copyAllFiles({ database: runtime, setting, clock: machineClock }, to);
    assert.deepEqual(await forgetCopies(to, '000002-bbbbbbbb', []), []);
    assert.ok(await hasCopy(to, key));
  });

  it('no name of a copy is one of a backup', async () => {
    const names = readdirSync(join(dataDir, 'lately'));
    assert.ok(names.length > 0 && names.every((name) => name.startsWith('file-')));
  });
});
