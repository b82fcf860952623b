/** What a loan takes of the income, as the page of an application tells it (D45; docs/operators.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Terms } from '../../src/domain/loan/terms.ts';
import { HOUR_MS, machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { readContract } from '../../src/subjects/signing/sql/contracts.ts';
import { installmentsOf, KeptInstallments } from '../../src/subjects/signing/uses/installments.ts';
import { outlookOf } from '../../src/subjects/signing/uses/price.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const signing = await testSigning(store);
let terms: Terms | null = signing.context.terms;
const desk = await startTestConsole(
  store,
  applicationRoutes({ database: runtime, vault, clock: machineClock, terms: async () => terms }),
);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const read = async (id: number) => (await viewer.ask('GET', `/api/applications/${id}`)).body;

describe('what a loan takes of the income', () => {
  it('is the installment that the applicant would be offered, against the declared income', async () => {
    const id = await signing.begin({ income: 2_000_000, debt_amount: 5_000_000 });
    const offer = await outlookOf(signing.context, id);
    assert.ok(offer.kind === 'offer');
    const { capacity } = await read(id);
    const share = Math.round((Number(offer.installment) / 2_000_000) * 10_000) / 10_000;
    assert.deepEqual(capacity, {
      ...{ installment: offer.installment, months: offer.months, unpriced: null, installment_by: 'terms' },
      ...{ income: 2_000_000, income_by: 'declared', share },
    });
  });

  it('is against the observed income where there is one', async () => {
    const id = await signing.begin({ income: 2_000_000 });
    const { capacity: before } = await read(id);
    await database.query(
      `INSERT INTO income_checks (application_id, digest, method, outcome, reason, currency, declared, observed, months,
         confidence, layouts, reader, rules)
       VALUES ($1, '', 'lower', 'operator', 'below', 'COP', 200000000, 100000000, 3, 0.9, '{}', 'test', '{}')`,
      [id],
    );
    const { capacity } = await read(id);
    assert.deepEqual([capacity.income, capacity.income_by], [1_000_000, 'observed']);
    assert.ok(Math.abs(capacity.share - 2 * before.share) < 0.0002);
  });

  it('is that of the contract once there is one, whatever the terms of the day say', async () => {
    const id = await signing.begin();
    await signing.sign(id);
    const { offer } = (await readContract(database, id))!.terms;
    const before = terms;
    terms = null;
    const { capacity } = await read(id);
    terms = before;
    assert.deepEqual([capacity.installment, capacity.installment_by], [offer.installment, 'contract']);
  });

  it('is not made up: no terms, another country, an amount below what is lent', async () => {
    const id = await signing.begin();
    const abroad = await signing.begin({ phone: '+525512345678' as never });
    const small = await signing.begin({ debt_amount: 99_999 });
    const told = async (which: number) => {
      const { installment, share, unpriced } = (await read(which)).capacity;
      return [installment, share, unpriced];
    };
    assert.deepEqual(await told(abroad), [null, null, 'no_terms']);
    assert.deepEqual(await told(small), [null, null, 'below_minimum']);
    const before = terms;
    terms = null;
    assert.deepEqual(await told(id), [null, null, 'no_terms']);
    terms = before;
  });

  it('stands beside the bands of the policy that decided', async () => {
    const { bands, policy_version: version } = await read(await signing.begin());
    assert.deepEqual([bands, version], [{ approved: 70, in_review: 30 }, 'default-2']);
  });
});

it('what is kept holds for the hour and the terms; what cannot be read is not kept', async () => {
  const id = await signing.begin();
  const kept = new KeptInstallments();
  const amount = async (by = terms, keeping = kept) =>
    (await installmentsOf(database, vault, by, [id], { kept: keeping })).get(id)?.installment.amount;
  const envelopeOf = 'SELECT envelope FROM batches WHERE id = $1::bigint / 128';
  const { rows } = await database.query(envelopeOf, [id]);
  const put = (envelope: Buffer | null) =>
    database.query('UPDATE batches SET envelope = $2 WHERE id = $1::bigint / 128', [id, envelope]);
  await put(null);
  assert.equal(await amount(), null);
  await put(rows[0].envelope);
  const hour = async () => Math.floor((await databaseTime(database)).getTime() / HOUR_MS);
  const began = await hour();
  const told = await amount();
  assert.match(`${told}`, /^\d+$/);
  await put(null);
  const [again, fresh] = [await amount(), await amount(terms, new KeptInstallments())];
  // At the turn of an hour nothing is kept any more, which is the rule too.
  if ((await hour()) === began) assert.equal(again, told);
  assert.deepEqual([fresh, await amount({ ...terms! })], [null, null], 'nothing is kept, or by other terms');
  const now = new Date('2026-12-01T13:59:59Z');
  kept.of(terms, now).set(id, {} as never);
  assert.deepEqual([kept.of(terms, now).size, kept.of(terms, new Date('2026-12-01T14:00:00Z')).size], [1, 0]);
});
