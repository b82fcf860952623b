/** A column of sealed values is sealed again in pages, each by one statement. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { PAGE, sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { testDatabase } from '../support/database.ts';
import { NEW, OLD, ONLY_NEW } from '../support/rotated-secrets.ts';

const { database } = await testDatabase();
const [old, newer, onlyNew] = [new Vault(OLD), new Vault(NEW), new Vault(ONLY_NEW)];
const ROWS = 2 * PAGE + 10;
const NOTES = sealedRows({
  name: 'notes',
  sealed: {
    ...{ column: 'sealed', kind: 'notes', id: 'id', under: ['name'] },
    identity: (name: string) => `note ${name}`,
  },
});
const sealedBy = (vault: Vault, id: number) => vault.seal(`text ${id}`, `note ${id}`);

before(async () => {
  await database.query('CREATE TABLE notes (id bigint PRIMARY KEY, name text, sealed bytea)');
  const ids = Array.from({ length: ROWS }, (_, n) => n + 1);
  await database.query(
    'INSERT INTO notes SELECT i, i::text, s FROM unnest($1::bigint[], $2::bytea[]) AS u(i, s)',
    [ids, ids.map((id) => sealedBy(old, id))],
  );
  // Row 3 opens with no key.
  await database.query(
    'UPDATE notes SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = 3',
  );
});

it('seals all values that open with one statement a page; one that changes meanwhile stays', async () => {
  const changed = sealedBy(newer, 7);
  let writes = 0;
  const changing = Object.create(database, {
    query: {
      value: async (text: string, values: unknown[]) => {
        if (/^\s*UPDATE/.test(text)) {
          writes += 1;
          await database.query('UPDATE notes SET sealed = $1 WHERE id = 7', [changed]);
        }
        return database.query(text, values);
      },
    },
  });
  const steps: unknown[] = [];
  for (let from: string | null = ''; from !== null; ) {
    const step = await NOTES.reseal(changing, newer, from);
    steps.push(step);
    from = step.next;
  }
  const all = { resealed: PAGE, unopened: 0, applications: PAGE };
  assert.deepEqual(steps, [
    { next: `${PAGE}`, resealed: PAGE - 2, unopened: 1, applications: PAGE - 2 },
    { ...all, next: `${2 * PAGE}` },
    { next: null, resealed: 10, unopened: 0, applications: 10 },
  ]);
  assert.equal(writes, 3);
  const { rows } = await database.query('SELECT id, sealed FROM notes WHERE id <> 3 ORDER BY id');
  for (const { id, sealed } of rows)
    assert.equal(onlyNew.open(sealed, `note ${id}`).toString(), `text ${id}`);
  assert.ok(rows[5].sealed.equals(changed));
  assert.deepEqual(await NOTES.rowsOf(database, newer, 1), { needing: 0, damaged: 1 });
});
