import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { namedFields } from '../../../src/domain/application/fields.ts';
import { readApplication } from '../../../src/domain/application/read-application.ts';
import { forcedOutcome, SANDBOX_SCENARIOS } from '../../../src/domain/application/sandbox.ts';
import type { Environment } from '../../../src/domain/partner/credential.ts';
import { isPhone, normalisePhone, toPhone } from '../../../src/domain/phone/phone.ts';
import { DECISIONS, type Decision } from '../../../src/domain/scorecard/scorecard.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { APPLICANT } from '../../support/applicant.ts';

const PHONES = SANDBOX_SCENARIOS.map(({ phone }) => phone);
/** The contract's "Outcome at creation". */
const BANDS: Readonly<Record<Decision, readonly [from: number, to: number]>> = {
  approved: [70, 100],
  in_review: [30, 69],
  rejected: [0, 29],
};
const { phone: _, ...APPLICATION } = APPLICANT;
const COUNTRIES: readonly Country[] = ['CO', 'US', 'IN', 'MV', 'BR', 'MX', 'UZ'];

function read(changes: object, environment: Environment, country: Country = 'CO') {
  return readApplication({ ...APPLICATION, ...changes }, namedFields('messaging'), country, environment);
}

describe('the table of the sandbox (D38)', () => {
  it('every number is in normal form, different, begins with +990, and has a description in both languages', () => {
    for (const { phone, description } of SANDBOX_SCENARIOS) {
      assert.match(phone, /^\+990\d{4,12}$/);
      for (const country of COUNTRIES) assert.equal(normalisePhone(phone, country), phone);
      assert.ok(description.en !== '' && description.es !== '' && description.en !== description.es);
    }
    assert.equal(new Set(PHONES).size, PHONES.length);
  });

  it('the numbers force a duplicate, the quota, a failure, and each decision with a score of its band', () => {
    const decisions = new Set<Decision>();
    for (const { outcome } of SANDBOX_SCENARIOS) {
      if (outcome.kind !== 'registered') continue;
      const [from, to] = BANDS[outcome.decision];
      assert.ok(outcome.score >= from && outcome.score <= to, `${outcome.decision} ${outcome.score}`);
      decisions.add(outcome.decision);
    }
    assert.deepEqual(decisions, new Set(DECISIONS));
    const kinds = new Set(SANDBOX_SCENARIOS.map(({ outcome }) => outcome.kind));
    assert.deepEqual(kinds, new Set(['registered', 'duplicate', 'over_quota', 'unavailable']));
  });

  it('any other phone, or no phone, forces nothing', () => {
    assert.equal(forcedOutcome(null), null);
    for (const { phone, outcome } of SANDBOX_SCENARIOS) assert.equal(forcedOutcome(toPhone(phone)), outcome);
    const digits = fc.stringMatching(/^[1-9]\d{6,14}$/).map((text) => `+${text}`);
    const near = fc
      .tuple(fc.constantFrom('+990', ...PHONES), fc.stringMatching(/^\d{0,8}$/))
      .map(([front, back]) => front + back);
    fc.assert(
      fc.property(fc.oneof(digits, near), (phone) => {
        fc.pre(!PHONES.includes(phone) && isPhone(phone));
        assert.equal(forcedOutcome(phone), null);
      }),
    );
  });
});

describe('a phone that begins with +990 (D38)', () => {
  const SPELLINGS = [
    '+9900409',
    '009900409',
    ' +990 0409 ',
    '(+990) 04-09',
    '00 990.0409',
    '+990 123 456 789 012',
    '+\u00a0990 1234',
  ];
  for (const text of SPELLINGS) {
    for (const name of ['phone', 'telefono']) {
      it(`DEV does and PRO does not: ${name} ${JSON.stringify(text)}`, () => {
        const fault = { field: 'phone', name, problem: 'phone' };
        const refused = { kind: 'invalid', idNumber: APPLICATION.id_number, faults: [fault] };
        assert.deepEqual(read({ [name]: text }, 'PRO'), refused);
        assert.equal(read({ [name]: text }, 'DEV').kind, 'valid');
      });
    }
  }

  it('both environments take a national number that begins with the digits 990', () => {
    for (const environment of ['PRO', 'DEV'] as const) {
      const reading = read({ phone: '99000 12345' }, environment, 'IN');
      assert.equal(reading.kind === 'valid' && reading.application.phone, '+919900012345');
    }
  });

  it('the environment changes no other result', () => {
    const separated = fc
      .tuple(
        fc.constantFrom('', '+', '00', '(+', ' '),
        fc.constantFrom('990', '99 0', '99-0', '989', '57', '1', '0'),
        fc.stringMatching(/^[\d .-]{3,14}$/),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(separated, fc.constantFrom(...COUNTRIES), (phone, country) => {
        const sandbox = read({ phone }, 'DEV', country);
        const production = read({ phone }, 'PRO', country);
        const reserved = sandbox.kind === 'valid' && /^\+990/.test(sandbox.application.phone ?? '');
        if (reserved) assert.equal(production.kind, 'invalid');
        else assert.deepEqual(production, sandbox);
      }),
      { numRuns: 500 },
    );
  });
});
