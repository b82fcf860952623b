/** A step of a reseal over envelopes: how much it reads, and what it does beside rows that cannot be read. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { beforeEach, it } from 'node:test';
import { batchesOfPartition, partitionOfBatch, toBatchId } from '../../src/domain/application/ids.ts';
import { Vault } from '../../src/seal/vault.ts';
import { resealEnvelopes } from '../../src/subjects/applications/sql/reseal-envelopes.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { NEW, OLD } from '../support/rotated-secrets.ts';
import { addPartner } from '../support/service.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const store = await testDatabase();
const { database } = store;
const old = { ...store, vault: new Vault(OLD) };
const newer = new Vault(NEW);
const { keyId } = await addPartner(store);
const register = await registrarOf(old);
let phones = 0;

/** Registers batches of so many applicants, one after the other. `nameLength`: in characters. */
async function registerBatches(count: number, size: number, nameLength = 10): Promise<void> {
  for (let batch = 0; batch < count; batch += 1) {
    const some = Array.from({ length: size }, () => {
      phones += 1;
      // Random letters of an alphabet of 20,000: they hardly compress.
      const name = Array.from({ length: nameLength }, () =>
        String.fromCodePoint(0x4e00 + randomInt(20_000)),
      ).join('');
      return applicant({ phone: `+5730066${`${phones}`.padStart(5, '0')}` as never, name });
    });
    await register(keyId, some);
  }
}

/** The ids of the batches that a data key has sealed, in their order. */
async function batchesOf(key: number): Promise<string[]> {
  const { rows } = await database.query(
    'SELECT id FROM batches WHERE get_byte(envelope, 0) = $1 ORDER BY id',
    [key],
  );
  return rows.map(({ id }) => id);
}

beforeEach(() => emptyApplications(database));

it('a step reads about a MiB of envelopes, and the next step begins with the first envelope that was not read', async () => {
  await registerBatches(40, 100, 200);
  const all = await batchesOf(1);
  const { rows } = await database.query('SELECT octet_length(envelope) AS bytes FROM batches ORDER BY id');
  const first = await resealEnvelopes(database, newer, '');
  const done = await batchesOf(2);
  assert.deepEqual(done, all.slice(0, first.resealed));
  assert.equal(first.next, all[first.resealed]);
  const bytes = rows.slice(0, first.resealed - 1).reduce((sum, row) => sum + row.bytes, 0);
  assert.ok(bytes < 1024 * 1024 && bytes + 2 * rows[0].bytes > 1024 * 1024, `${bytes} bytes`);
  assert.equal(first.applications, 100 * first.resealed);
  let next: string | null = first.next;
  for (let steps = 0; next !== null && steps < 10; steps += 1) {
    ({ next } = await resealEnvelopes(database, newer, next));
  }
  assert.equal(next, null);
  assert.deepEqual(await batchesOf(2), all);
});

it('a row that cannot be read stays, counts once, and holds up no other row', async () => {
  await registerBatches(9, 1);
  const all = await batchesOf(1);
  const damaged = all[4]!;
  const failing = Object.create(database, {
    query: {
      value: async (text: string, values: unknown[] = []) => {
        const [first, last] = values;
        const isHit =
          /AS envelope/.test(text) && Number(first) <= Number(damaged) && Number(damaged) <= Number(last);
        if (isHit) throw Object.assign(new Error('missing chunk'), { code: 'XX001' });
        return database.query(text, values);
      },
    },
  });
  const step = await resealEnvelopes(failing, newer, '');
  const { before: nextPartition } = batchesOfPartition(partitionOfBatch(toBatchId(damaged)));
  assert.deepEqual(step, { next: nextPartition, resealed: 8, unopened: 1, applications: 8 });
  assert.deepEqual(await batchesOf(1), [damaged]);
});
