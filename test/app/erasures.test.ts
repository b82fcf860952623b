/** The erasures of persons are copied into the place of the backups, and what is damaged there is written again. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { countErasures, ErasureCopies } from '../../src/app/backup/erasures.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';
import { testDatabase } from '../support/database.ts';
import { serverFolder } from '../support/server-folder.ts';

const folder = mkdtempSync(join(serverFolder(), 'ventanilla-erasures-'));
after(() => rmSync(folder, { recursive: true }));
const store = await testDatabase();
const place = new Folder(folder, BACKUPS);
const key = new BackupKey(randomBytes(32));
const erasures = join(folder, 'erasures');

/** Counts the erasures that are read from the store. */
let read = 0;
const database = new Proxy(store.database, {
  get: (target, name) =>
    name === 'query'
      ? async (...args: [string, unknown[]]) => {
          const result = await target.query(...args);
          read += result.rows.length;
          return result;
        }
      : Reflect.get(target, name),
}) as Database;
const source = { ...store, database };

const add = (count: number) =>
  store.database.query(
    `INSERT INTO erasures (id, erased_at, application_ids, seal_ids)
    SELECT gen_random_uuid(), now(), '{}', '{}' FROM generate_series(1, $1::integer)`,
    [count],
  );

it('writes again what the place has lost or damaged, and says where another key has sealed it', async () => {
  await add(25);
  const running = new ErasureCopies({ place, key });
  await running.copy(source);
  const names = readdirSync(erasures);
  assert.equal(names.length, 25);
  const [lost, cut, turned] = names.map((name) => join(erasures, name)) as [string, string, string];
  const whole = readFileSync(turned);
  rmSync(lost);
  writeFileSync(cut, readFileSync(cut).subarray(0, -1));
  whole[40]! ^= 1;
  writeFileSync(turned, whole);
  await assert.rejects(countErasures({ place, key }), /the erasures in .* cannot be read/);
  for (let n = 0; n < 4; n += 1) await running.turn(source);
  assert.equal(await countErasures({ place, key }), 25);
  const other = { place, key: new BackupKey(randomBytes(32)) };
  await assert.rejects(new ErasureCopies(other).turn(source), /was made with another BACKUP_KEY/);
  await assert.rejects(
    countErasures(other),
    /^OtherBackupKeyError: erasures\/\S+ was made with another BACKUP_KEY: set/,
  );
  assert.equal(await countErasures({ place, key }), 25);
});

it('reads a bounded number of erasures in a turn, however many there are, and copies each new one', async () => {
  await add(1_200);
  const running = new ErasureCopies({ place, key });
  // A number is taken before its erasure is committed.
  const { rows } = await store.database.query(`DELETE FROM erasures WHERE number = 1200 RETURNING id`);
  await running.turn(source);
  assert.equal(readdirSync(erasures).length, 1_224);
  await add(7);
  await store.database.query(
    `INSERT INTO erasures (id, number, erased_at, application_ids, seal_ids) OVERRIDING SYSTEM VALUE
    VALUES ($1, 1200, now(), '{}', '{}')`,
    [rows[0].id],
  );
  read = 0;
  await running.turn(source);
  assert.ok(read <= 1_017, `${read} erasures`);
  assert.equal(readdirSync(erasures).length, 1_232);
});
