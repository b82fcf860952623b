/** What the chat says of an offer (D45). */
import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import { LONGEST_VALUE, type Value } from '../../../src/domain/conversation/flow.ts';
import { offerOfLoan, priceLoan } from '../../../src/domain/loan/offer.ts';
import { payingOf } from '../../../src/domain/loan/payees.ts';
import type { CountryTerms } from '../../../src/domain/loan/terms.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { shownOffer } from '../../../src/subjects/conversation/rules/shown-offer.ts';
import { DEMO_TERMS } from '../../../src/subjects/signing/rules/demo-terms.ts';

function offerOf(country: Country, changes: Partial<CountryTerms>, amount: number | string = 6_000_000) {
  const terms = { ...(DEMO_TERMS.countries[country] as CountryTerms), ...changes };
  const { currency } = terms;
  const priced = priceLoan(country, terms, { amount, currency }, new Date('2026-11-23T15:00:00Z'));
  assert.ok(priced.kind === 'priced');
  const paying = payingOf([], { net: `${amount}`, currency });
  return offerOfLoan(country, terms, priced, { disbursement: '2026-12-01', paying, demonstration: true });
}

test('D45: fees, taxes, late interest and the time to withdraw are told in the words of the person', () => {
  const fees = [
    { name: 'Estudio', when: 'deducted', amount: '1000' },
    { name: 'Seguro', when: 'monthly', amount: '10', kind: 'insurance' },
  ] as const;
  const told = (country: Country, locale: string, changes: Partial<CountryTerms> = {}) => {
    const offer = shownOffer(offerOf(country, { fees, monthly_rate: '0', ...changes }, 36_000), locale);
    return [offer.fees, offer.taxes, offer.lateRate, offer.withdrawal, offer.disbursement];
  };
  assert.deepEqual(told('CO', 'es-CO', { late_rate: '1.8' }), [
    ...['$ 1.360', '$ 0', '1,8 % al mes', '5 días hábiles', '1 de diciembre de 2026'],
  ]);
  assert.deepEqual(told('MX', 'es-MX', { late_rate: 'none', withdrawal: 'none' }), [
    ...['$1,360.00', '$160.00', 'no se cobran', 'sin plazo', '1 de diciembre de 2026'],
  ]);
  assert.deepEqual(told('BR', 'pt-BR'), [
    ...['R$ 1.360,00', 'R$ 0,00', '1,5 % ao mês', '7 dias corridos', '1 de dezembro de 2026'],
  ]);
  assert.deepEqual(told('US', 'en-US', { late_rate: '2' }), [
    ...['$1,360.00', '$0.00', '2 % a month', 'not possible', 'December 1, 2026'],
  ]);
});

test('a contract of version 1.0 has no fees, dates and period, and the chat says so', () => {
  const { fees, taxes, withdrawal, lateRate, disbursement, ...old } = offerOf('CO', {});
  const shown = shownOffer(old, 'es-CO');
  const { fees: f, taxes: t, withdrawal: w, lateRate: l, disbursement: d } = shown;
  assert.deepEqual([f, t, w, l, d], ['-', '-', '-', '-', '-']);
  assert.ok(fees && taxes && withdrawal && lateRate && disbursement);
});

it('no value is longer than the check of flows counts with', () => {
  const large = {
    maximum: '999999999999999',
    late_rate: '99.9999',
    withdrawal: { days: 60, kind: 'calendar' },
    fees: [{ name: 'x', when: 'monthly', amount: '99999999999' }],
  } as const;
  const names: Readonly<Record<string, Value>> = {
    toApplicant: 'to_applicant',
    interestRate: 'interest_rate',
    interestRateName: 'interest_rate_name',
    rateName: 'rate_name',
    lateRate: 'late_rate',
    firstDue: 'first_due',
    validUntil: 'valid_until',
  };
  for (const [country, locale] of [
    ...([
      ['CO', 'es-CO'],
      ['MX', 'es-MX'],
      ['BR', 'pt-BR'],
      ['PE', 'es-PE'],
      ['CL', 'es-CL'],
      ['AR', 'es-AR'],
    ] as const),
    ...([
      ['US', 'en-US'],
      ['EC', 'es-EC'],
    ] as const),
  ]) {
    for (const disbursement of ['2026-08-30', '2026-11-30']) {
      const offer = offerOf(country, large, '899999999999999');
      for (const [name, value] of Object.entries(shownOffer({ ...offer, disbursement }, locale))) {
        const most = LONGEST_VALUE[names[name] ?? (name as Value)];
        assert.ok(
          value.length <= most,
          `${locale} ${name}: ${value} has ${value.length}, and ${most} is the most`,
        );
      }
    }
  }
});
