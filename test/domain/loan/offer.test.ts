/** What an applicant is offered, and why nothing is (D45); the period to withdraw (D46). */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { hasLastFour, lastFourOf, readCode, readLastFour } from '../../../src/domain/evidence/answer.ts';
import { rulesOf } from '../../../src/domain/loan/country-rules.ts';
import { localDate, startOfDate } from '../../../src/domain/loan/local-day.ts';
import { offerOfLoan, priceLoan } from '../../../src/domain/loan/offer.ts';
import { payingOf } from '../../../src/domain/loan/payees.ts';
import type { CountryTerms } from '../../../src/domain/loan/terms.ts';
import { withdrawalEnd } from '../../../src/domain/loan/withdrawal.ts';
import { toMinor } from '../../../src/domain/money/money.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { loadPublicHolidays } from '../../../src/subjects/messages/uses/public-holidays.ts';
import { DEMO_TERMS } from '../../../src/subjects/signing/rules/demo-terms.ts';

const DEMO = DEMO_TERMS.countries.CO as CountryTerms;
const COP = { amount: 6_000_000, currency: 'COP' };
const NOW = new Date('2026-11-23T15:00:00Z');
const priced = (changes: Partial<CountryTerms>, debt = COP, now = NOW) =>
  priceLoan('CO', { ...DEMO, ...changes }, debt, now);
const reasonOf = (changes: Partial<CountryTerms>, debt = COP, now = NOW) => {
  const result = priced(changes, debt, now);
  return result.kind === 'blocked' ? result.reason : 'priced';
};

describe('D45: nobody gets a contract', () => {
  it('where the rate is above the legal maximum of the month, or the month has none', () => {
    assert.equal(reasonOf({ legal_maximum: { '2026-11': '19.57' } }), 'priced');
    assert.equal(reasonOf({ legal_maximum: { '2026-11': '19.56' } }), 'above_maximum');
    assert.equal(reasonOf({ legal_maximum: { '2026-12': '99' } }), 'no_maximum');
    assert.equal(reasonOf({ legal_maximum: {} }), 'no_maximum');
  });
  it('where the late rate is above it, in the month of the contract or of a day on which it may be signed', () => {
    // 1.8 % a month is 23.87205 % a year.
    assert.equal(reasonOf({ late_rate: '1.8', legal_maximum: { '2026-11': '23.8720' } }), 'above_maximum');
    assert.equal(reasonOf({ late_rate: '1.8', legal_maximum: { '2026-11': '23.8721' } }), 'priced');
    const legal_maximum = { '2026-11': '25', '2026-12': '22' };
    const result = priced({ late_rate: '1.8', legal_maximum }, COP, new Date('2026-11-30T15:00:00Z'));
    assert.equal(result.kind === 'priced' && result.expiresAt.toISOString(), '2026-12-01T05:00:00.000Z');
  });
  it('and the month is that of the country, not of UTC', () => {
    const legal_maximum = { '2026-11': '30', '2026-12': '19' };
    const lastHours = new Date('2026-12-01T04:59:00Z');
    assert.equal(reasonOf({ legal_maximum }, COP, lastHours), 'priced');
    assert.equal(reasonOf({ legal_maximum }, COP, new Date('2026-12-01T05:00:00Z')), 'above_maximum');
  });
  it('where fees lift the rate above the maximum; the premium of an insurance is no interest (Ley 45 of 1990, 68)', () => {
    const legal_maximum = { '2026-11': '20' };
    for (const when of ['deducted', 'financed', 'monthly'] as const) {
      const fee = { name: 'Estudio', when, amount: when === 'monthly' ? '3000' : '60000' };
      assert.equal(reasonOf({ legal_maximum, fees: [fee] }), 'above_maximum', when);
      assert.equal(reasonOf({ legal_maximum, fees: [{ ...fee, kind: 'insurance' }] }), 'priced', when);
    }
    const insurance = { name: 'Seguro', percent: '0.5' };
    assert.equal(reasonOf({ legal_maximum, insurance }), 'priced');
  });
  it('in another currency, below the minimum, or above the most amount', () => {
    assert.equal(reasonOf({}, { amount: 5, currency: 'USD' }), 'wrong_currency');
    assert.equal(reasonOf({ minimum: '6000001' }), 'below_minimum');
    assert.equal(reasonOf({ maximum: '5999999' }), 'above_limit');
  });
});

test('D45: a contract may be signed on its day and the days of the offer, and never in a month that forbids it', () => {
  const until = (changes: Partial<CountryTerms>) => {
    const result = priced(changes, COP, new Date('2026-11-29T12:00:00Z'));
    return result.kind === 'priced' ? result.expiresAt.toISOString() : result.reason;
  };
  assert.equal(until({ offer_days: 2 }), '2026-12-02T05:00:00.000Z');
  assert.equal(until({ legal_maximum: { '2026-11': '30', '2026-12': '30' } }), '2026-12-02T05:00:00.000Z');
  assert.equal(until({ legal_maximum: { '2026-11': '30', '2026-12': '19' } }), '2026-12-01T05:00:00.000Z');
  assert.equal(until({ legal_maximum: { '2026-11': '30' } }), '2026-12-01T05:00:00.000Z');
});

test('D45: what is paid, less what is paid out, is interest, fees and taxes, to the unit', () => {
  const amount = fc.record({ amount: fc.integer({ min: 1, max: 90_000 }).map(String) });
  const charge = fc.oneof(amount, fc.record({ percent: fc.constantFrom('0.01', '0.5', '2.75') }));
  const fee = fc
    .tuple(charge, fc.constantFrom('deducted', 'financed', 'monthly'), fc.boolean())
    .map(([size, when, isInsurance]) => ({
      ...{ name: 'Cargo', when, ...size },
      ...(isInsurance ? { kind: 'insurance' as const } : {}),
    }));
  const cents = (text: string | undefined, currency: string) => toMinor(text ?? 'missing', currency);
  fc.assert(
    fc.property(
      fc.constantFrom<Country>('CO', 'MX'),
      fc.array(fee, { maxLength: 4 }),
      fc.constantFrom('0', '0.05'),
      fc.integer({ min: 1_000_000, max: 9_000_000 }),
      (country, fees, percent, asked) => {
        const base = DEMO_TERMS.countries[country] as CountryTerms;
        const terms = { ...base, fees, insurance: { name: 'Seguro', percent } };
        const { currency } = terms;
        const result = priceLoan(country, terms, { amount: asked, currency }, NOW);
        assert.ok(result.kind === 'priced');
        const paying = payingOf([], { net: '1', currency });
        const offer = offerOfLoan(country, terms, result, {
          disbursement: '2026-12-01',
          paying,
          demonstration: true,
        });
        const interest = result.loan.payments.reduce((sum, one) => sum + one.interest, 0n);
        const [total, net, charges, taxes] = [offer.total, offer.net, offer.fees, offer.taxes].map((one) =>
          cents(one, currency),
        ) as [bigint, bigint, bigint, bigint];
        assert.equal(total - net, interest + charges + taxes);
        assert.equal(taxes > 0n, country === 'MX');
      },
    ),
  );
});

test('D45: the offer has every amount as an exact decimal, and the word of the country', () => {
  const fees = [
    { name: 'Estudio', when: 'deducted', percent: '1.5' },
    { name: 'Seguro', when: 'monthly', amount: '2500.5' },
  ] as const;
  const result = priced({ fees });
  assert.ok(result.kind === 'priced');
  const offer = offerOfLoan('CO', { ...DEMO, fees }, result, {
    disbursement: '2026-11-30',
    paying: { debts: [7], creditors: '5000000', toApplicant: '910000' },
    demonstration: true,
  });
  assert.deepEqual(
    [offer.amount, offer.net, offer.installment, offer.months],
    ['6000000', '5910000', '219415', 36],
  );
  assert.deepEqual(
    [offer.interestRate, offer.interestRateName, offer.rateName],
    ['19.56', 'tasa de interés efectiva anual', 'valor total unificado (VTU)'],
  );
  assert.deepEqual(
    [offer.firstDue, offer.lastDue, offer.validUntil],
    ['2026-12-30', '2029-11-30', '2026-11-25'],
  );
  const names = (country: Country) => rulesOf(country).totalCost.name;
  assert.deepEqual((['MX', 'PE', 'BR', 'CL', 'AR'] as const).map(names), [
    'CAT sin IVA',
    'TCEA',
    'CET',
    'CAE',
    'CFT',
  ]);
  assert.equal(names('GB'), 'annual effective rate with charges');
});

test('D45: a financed fee is lent beside the amount, so the whole amount is paid out', () => {
  const fees = [{ name: 'Estudio', when: 'financed', percent: '0.5' }] as const;
  const result = priced({ fees });
  assert.ok(result.kind === 'priced');
  assert.deepEqual([result.principal, result.loan.net], [6_030_000n, 6_000_000n]);
});

describe('D46: the period to withdraw', async () => {
  const holidays = await loadPublicHolidays();
  const end = (days: number, kind: 'business' | 'calendar', at: string, country: Country, zone: string) =>
    withdrawalEnd({ days, kind }, new Date(at), { country, zone }, holidays).toISOString();
  it('counts business days without the holidays of the country', () => {
    // 4 December 2026 is a Friday. The 8th is a holiday in Colombia, in Peru the 9th as well.
    assert.equal(
      end(5, 'business', '2026-12-04T18:00:00Z', 'CO', 'America/Bogota'),
      '2026-12-15T05:00:00.000Z',
    );
    assert.equal(
      end(5, 'business', '2026-12-04T18:00:00Z', 'PE', 'America/Lima'),
      '2026-12-16T05:00:00.000Z',
    );
    assert.equal(
      end(1, 'business', '2026-12-04T18:00:00Z', 'MX', 'America/Mexico_City'),
      '2026-12-08T06:00:00.000Z',
    );
  });
  it('counts calendar days, from the day after the signature by the wall clock of the country', () => {
    assert.equal(
      end(7, 'calendar', '2026-11-23T15:00:00Z', 'BR', 'America/Sao_Paulo'),
      '2026-12-01T03:00:00.000Z',
    );
    // At 01:00 UTC the day before has not ended there.
    assert.equal(
      end(7, 'calendar', '2026-11-24T01:00:00Z', 'BR', 'America/Sao_Paulo'),
      '2026-12-01T03:00:00.000Z',
    );
  });
  it('begins days at their first minute, also where the clock skips midnight', () => {
    // Chile's clocks go from 24:00 to 01:00 in September.
    assert.equal(startOfDate('2026-09-06', 'America/Santiago').toISOString(), '2026-09-06T04:00:00.000Z');
    assert.equal(localDate(new Date('2026-09-06T03:59:00Z'), 'America/Santiago'), '2026-09-05');
    assert.equal(localDate(new Date('2026-09-06T04:00:00Z'), 'America/Santiago'), '2026-09-06');
  });
});

test('D46: the code is six digits, also in halves and among words', () => {
  for (const text of [
    '123456',
    ' 123 456 ',
    '123-456.',
    'mi código es 123456, gracias',
    '１２３４５６',
    '3040 123456',
  ]) {
    assert.equal(readCode(text), '123456', text);
  }
  for (const text of ['', 'hola', '12345', '1234567', '123456 654321', '12 34 56', 'x'.repeat(300), '👍']) {
    assert.equal(readCode(text), null, text);
  }
});

test('D46: the last four characters of an ID number are compared without signs, accents and small letters', () => {
  assert.equal(lastFourOf('CC 10.203.040'), '3040');
  assert.equal(lastFourOf('12.345.678-k'), '678K');
  assert.equal(lastFourOf('7'), '7');
  // The type of document is no part of the number (D49).
  assert.deepEqual([lastFourOf('CC 1234'), lastFourOf('CC123')], ['1234', '123']);
  for (const text of ['3040', ' 30-40', '30 40.', 'las últimas son 3040', '３０４０']) {
    assert.equal(readLastFour(text), '3040', text);
  }
  assert.equal(readLastFour('rl-kñ'), 'RLKN');
  assert.equal(readLastFour('304k'), '304K');
  for (const text of ['', 'no', 'para que sirve', '12345', '3040 o 4050', 'x'.repeat(300)]) {
    assert.equal(readLastFour(text), null, text);
  }
});

test('D46: an ID number of which nobody can be asked for four letters or digits is too short', () => {
  for (const text of ['123', '12-A', '7', '. . .', '']) assert.equal(hasLastFour(text), false, text);
  for (const text of ['1234', '1.2-3 4', 'ÁB1c']) assert.equal(hasLastFour(text), true, text);
});
