/** A stored application equals the registered one, for any values. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { DEBT_AGES, FIELDS, NUM_DEBTS, PRIOR_HISTORIES } from '../../src/domain/application/fields.ts';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { CRITERIA } from '../../src/domain/scorecard/scorecard.ts';
import { CURRENCIES, type Currency } from '../../src/ground/base/country-data.ts';
import {
  readApplicationDetails,
  readApplications,
} from '../../src/subjects/applications/sql/applications.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);

const amount = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });
const EDGES = [
  Number.MIN_VALUE, 2.2250738585072009e-308, 2.2250738585072014e-308, 0.1, 1, 1.5e6, 2 ** 53 - 1, Number.MAX_VALUE,
]; // biome-ignore format: one list

it('each double is read as it was written', async () => {
  const read = async (values: readonly number[]) => {
    const bytes = Buffer.alloc(values.length * 8);
    for (const [index, value] of values.entries()) bytes.writeDoubleBE(value, index * 8);
    const { rows } = await database.query<{ value: number }>(
      'SELECT double_at($1, 8 * n) AS value FROM generate_series(0, $2 - 1) AS n',
      [bytes, values.length],
    );
    return rows.map(({ value }) => value);
  };
  assert.deepEqual(await read(EDGES), EDGES);
  await fc.assert(
    fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 100 }), async (values) =>
      assert.deepEqual(await read(values), values),
    ),
    { numRuns: 50 },
  );
});

const application = fc.record({
  income: amount,
  debt_amount: amount,
  currency: fc.constantFrom(...(Object.keys(CURRENCIES) as Currency[])),
  platform: fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/[\p{C}]/u.test(text))
    .map((text) => text.toLowerCase().trim() || 'gig'),
  num_debts: fc.constantFrom(...NUM_DEBTS),
  debt_age: fc.constantFrom(...DEBT_AGES),
  prior_history: fc.constantFrom(...PRIOR_HISTORIES),
  messaging_optin: fc.boolean(),
});

it('D30: an application is read with its fields, its points and its decision', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(application, { minLength: 1, maxLength: 100 }), async (values) => {
      const sent = values.map((changes) => applicant({ ...changes, phone: null }));
      const ids = await register(key, sent);
      const stored = await readApplications(database, vault, ids.map(toApplicationId));
      for (const [index, { id, decision, score, fields }] of stored.entries()) {
        const given = sent[index] as (typeof sent)[number];
        const assessment = BUILT_IN_CARD.decide(given);
        assert.equal(id, ids[index]);
        assert.deepEqual([decision, score], [assessment.decision, assessment.score]);
        assert.deepEqual(fields, Object.fromEntries(FIELDS.map(({ name }) => [name, given[name] ?? null])));
      }
      const last = await readApplicationDetails(database, vault, toApplicationId(ids.at(-1) as number));
      const { points } = BUILT_IN_CARD.decide(sent.at(-1) as (typeof sent)[number]);
      assert.deepEqual(last?.points, Object.fromEntries(CRITERIA.map((name) => [name, points[name]])));
    }),
    { numRuns: 25 },
  );
});
