/** What batches leave behind that register nothing (D13, D36). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeDraft } from '../../src/subjects/applications/sql/draft.ts';
import { prepareBatch } from '../../src/subjects/applications/sql/prepared-batch.ts';
import { resendRegister } from '../../src/subjects/applications/sql/registration-sql.ts';
import { eventually } from '../support/eventually.ts';
import { remac } from '../support/remac.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const { database } = service;
const PRO = `${service.url}/PRO`;
/** The bound by API key, and what a process may add to it (docs/refusals.md). */
const MOST = 1_000;
const LOOK_EVERY = 100;

const SIZE = `
  SELECT pg_total_relation_size('batch_receipts')::integer AS bytes,
    (SELECT count(*) FROM batch_receipts)::integer AS receipts`;

const COUNTS = `
  SELECT sum(remembered)::integer AS remembered, sum(forgotten)::integer AS forgotten
  FROM key_outcomes WHERE api_key_id = $1`;

async function measure(): Promise<{ bytes: number; receipts: number }> {
  return (await database.query(SIZE)).rows[0];
}

async function receiptsOf(keyId: number): Promise<number> {
  const text = 'SELECT count(*)::integer AS count FROM batch_receipts WHERE api_key_id = $1';
  return (await database.query(text, [keyId])).rows[0].count;
}

async function lastNumber(): Promise<number> {
  return Number((await database.query('SELECT last_value FROM batch_numbers')).rows[0].last_value);
}

/** Sends `count` batches under keys of their own, a few at a time. Gives the answers' texts. */
async function sendMany(
  apiKey: string,
  count: number,
  batch: (index: number) => unknown,
  keyOf: (index: number) => Record<string, string> = (index) => ({ 'Idempotency-Key': `k${index}` }),
): Promise<string[]> {
  const texts: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      // A busy machine refuses some of a crowd with a 500, which leaves nothing (D37).
      const { status, text } = await eventually('an answer', async () => {
        const answer = await post(PRO, apiKey, batch(index), keyOf(index));
        return answer.status !== 500 && answer;
      });
      assert.equal(status, 200);
      texts[index] = text;
    }
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  return texts;
}

const NOTHING: [name: string, dailyCap: number | null, batch: () => unknown][] = [
  ['a hundred empty objects', null, () => ({ applications: new Array(100).fill({}) })],
  [
    'a hundred with every fault, under the longest names',
    0,
    () => ({
      aplicaciones: new Array(100).fill({
        ...{ nombre: 7, cedula: 'x'.repeat(500), ciudad: 7, telefono: 'no', plataforma: 7 },
        ...{ ingreso_cop: 0, monto_deuda_cop: 0, num_deudas: 9, antiguedad_mora: 9, historial_previo: 9 },
        optin_messaging: 'yes',
      }),
    }),
  ],
  ['a hundred over quota', 0, () => ({ applications: Array.from({ length: 100 }, () => anApplication()) })],
  ['a long ID number', 0, () => ({ applications: [anApplication({ id_number: 'x'.repeat(50_000) })] })],
];

const COUNT = 100;

describe('D36: a batch that registers nothing', () => {
  for (const [name, dailyCap, batch] of NOTHING) {
    it(`leaves at most 2 KiB, everything counted: ${name}`, async () => {
      await database.query('TRUNCATE batch_receipts');
      const { apiKey } = await service.addPartner({ dailyCap });
      const before = await measure();
      await sendMany(apiKey, COUNT, batch);
      const { bytes, receipts } = await measure();
      assert.equal(receipts, COUNT);
      // Few rows do not fill the pages that each index has from the start.
      const each = (bytes - before.bytes - 5 * 8192) / COUNT;
      assert.ok(each <= 2_048, `${each} bytes`);
    });
  }

  it('is remembered within a bound by API key: the oldest are forgotten, others stay', async () => {
    const [loud, quiet] = [await service.addPartner({ dailyCap: 0 }), await service.addPartner()];
    const empty = { applications: [{}] };
    const key = { 'Idempotency-Key': 'mine' };
    const first = await post(PRO, quiet.apiKey, empty, key);
    const registered = { applications: [anApplication()] };
    await database.query('UPDATE api_keys SET daily_cap = 1 WHERE id = $1', [loud.keyId]);
    await remac(service);
    const kept = await post(PRO, loud.apiKey, registered, { 'Idempotency-Key': 'registered' });
    await sendMany(loud.apiKey, 1_700, () => empty);
    await eventually('the bound', async () => (await receiptsOf(loud.keyId)) <= 1 + MOST + LOOK_EVERY);
    assert.ok((await receiptsOf(loud.keyId)) > MOST);

    const replayed = async (apiKey: string, body: unknown, name: string) => {
      const answer = await post(PRO, apiKey, body, { 'Idempotency-Key': name });
      return [answer.headers.get('idempotency-replayed'), answer.text];
    };
    assert.deepEqual(await replayed(quiet.apiKey, empty, 'mine'), ['true', first.text]);
    assert.deepEqual(await replayed(loud.apiKey, registered, 'registered'), ['true', kept.text]);
    for (const index of [1_699, 1_500, 1_200, 800]) {
      assert.equal((await replayed(loud.apiKey, empty, `k${index}`))[0], 'true', `${index}`);
    }
    for (const index of [0, 300, 500]) {
      assert.equal((await replayed(loud.apiKey, empty, `k${index}`))[0], null, `${index}`);
    }
    await eventually('the counts of `key refusals`', async () => {
      const { remembered, forgotten } = (await database.query(COUNTS, [loud.keyId])).rows[0];
      return remembered === 1_703 && forgotten >= 600 && forgotten <= 703;
    });
  });

  it('is remembered for its whole time where an earlier try was in doubt, so that the try stays shut out', async () => {
    const { keyId } = await service.addPartner();
    const draft = encodeDraft({ language: 'en', outcomes: [{ kind: 'not_an_object' }] });
    const resent = { key: 'resent', body: Buffer.from('{"applications":[1]}'), draft };
    const { rows: policies } = await database.query('SELECT min(id) AS id FROM policies');
    const batch = prepareBatch(service.vault, { keyId, policyId: policies[0].id }, [], resent);
    assert.equal(
      (await resendRegister(database, { indexKeyId: service.vault.indexKeyId }, batch)).kind,
      'done',
    );
    const { rows } = await database.query('SELECT refused_number FROM batch_receipts WHERE api_key_id = $1', [
      keyId,
    ]);
    assert.deepEqual(rows, [{ refused_number: null }]);
  });

  it('leaves nothing without an Idempotency-Key, and takes no number of a batch', async () => {
    const { apiKey } = await service.addPartner();
    const taken = Array.from({ length: 5 }, () => anApplication());
    await post(PRO, apiKey, { applications: taken });
    const [before, number] = [await measure(), await lastNumber()];
    const batches = [{ applications: taken }, { applications: [{}, null] }, { applications: taken.slice(2) }];
    const texts = await sendMany(
      apiKey,
      300,
      (index) => batches[index % 3],
      () => ({}),
    );
    assert.ok(texts.every((text) => text.includes('"processed":0')));
    assert.equal((await measure()).receipts, before.receipts);
    // The first ones, until the service knows this key.
    assert.ok((await lastNumber()) - number <= 20, `${(await lastNumber()) - number} numbers`);
    const again = await post(PRO, apiKey, { applications: [...taken, anApplication()] });
    assert.match(again.text, /"processed":1,"errors":5/);
  });
});
