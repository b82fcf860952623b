import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { ToldError } from '../../src/ground/base/told-error.ts';
import { checkPolicy, parsePolicy } from '../../src/subjects/policies/rules/check-policy.ts';

type Json = { [key: string]: Json | number | string | Json[] };

/** A copy of the default policy with the value at a path (`a.b.0.c`) set, or removed where undefined. */
function changed(path: string, value: unknown): unknown {
  const policy = structuredClone(DEFAULT_POLICY) as unknown;
  const keys = path.split('.');
  const last = keys.pop() as string;
  let place = policy as Json;
  for (const key of keys) place = place[key] as Json;
  if (value === undefined) delete place[last];
  else Object.assign(place, { [last]: value });
  return policy;
}

function refusal(content: unknown): string {
  try {
    checkPolicy(content, 'p.json');
  } catch (error) {
    assert.ok(error instanceof ToldError, String(error));
    return error.message;
  }
  assert.fail(`accepted: ${JSON.stringify(content)?.slice(0, 200)}`);
}

const names = (policy: object, prefix = ''): string[] =>
  Object.entries(policy).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    return typeof value === 'object' && value !== null ? [path, ...names(value, `${path}.`)] : [path];
  });

describe('checkPolicy', () => {
  it('D27-D29: the default policy passes as it is', () => {
    assert.deepEqual(checkPolicy(structuredClone(DEFAULT_POLICY), 'p.json'), DEFAULT_POLICY);
  });

  it('D27-D29: other valid policies pass', () => {
    const sound: [string, unknown][] = [
      ['version', 'acme-2027-01'],
      ['reference_installment.monthly_rate', 0],
      ['reference_installment.months', 1],
      ['payment_capacity', []],
      ['payment_capacity', [{ min_ratio: 0.5, points: 25 }]],
      ['channel.gig', 0],
      ['debt_age.gt2', 20],
      ['decision', { approved: 100, in_review: 0 }],
      ['decision', { approved: 50, in_review: 50 }],
      ['amount_limit.usd', 0.01],
      ['amount_limit.rates.COP', 4100.5],
      ['amount_limit.max_installment_share', 0.4],
      ['amount_limit.max_installment_share', undefined],
    ];
    for (const [path, value] of sound) {
      const policy = changed(path, value);
      assert.deepEqual(checkPolicy(policy, 'p.json'), policy, path);
    }
  });

  it('D44: the thresholds of incomes may be left out, and are checked where they are there', () => {
    const income = { months: 3, newest_within_months: 2, confirm_ratio: 0.9, rescore_ratio: 0.7 };
    assert.deepEqual(checkPolicy(changed('income', income), 'p.json'), { ...DEFAULT_POLICY, income });
    const broken: [object, RegExp][] = [
      [{ ...income, months: 0 }, /income\.months/],
      [{ ...income, months: 1.5 }, /income\.months/],
      [{ ...income, confirm_ratio: 1.1 }, /income\.confirm_ratio/],
      [{ ...income, rescore_ratio: 0 }, /income\.rescore_ratio/],
      [{ ...income, surplus: 1 }, /surplus/],
      [{ months: 3 }, /income/],
      [{ ...income, confirm_ratio: 0.6 }, /rescore_ratio must not be above income\.confirm_ratio/],
    ];
    for (const [value, rule] of broken) assert.match(refusal(changed('income', value)), rule);
  });

  it('D27-D29: a missing key is refused and named', () => {
    for (const path of names(DEFAULT_POLICY)) {
      if (/^payment_capacity\.\d+$/.test(path) || path === 'amount_limit.max_installment_share') continue;
      const text = refusal(changed(path, undefined));
      const key = path.split('.').at(-1) as string;
      assert.ok(text.includes('p.json') && text.includes(key), `${path}: ${text}`);
    }
  });

  it('D27-D29: an unknown key is refused and named wherever it stands', () => {
    for (const place of [
      '',
      'reference_installment.',
      'payment_capacity.0.',
      'channel.',
      'debt_age.',
      'num_debts.',
      'prior_history.',
      'decision.',
      'amount_limit.',
      'amount_limit.rates.',
    ]) {
      const text = refusal(changed(`${place}surplus`, 5));
      assert.ok(text.includes('surplus'), `${place}: ${text}`);
    }
  });

  it('contract "Scoring", D27-D29: a wrong value is refused with its place', () => {
    const broken: [string, unknown[]][] = [
      ['version', ['', 5, 'x'.repeat(101), {}]],
      ['reference_installment', [[], 'x', 5]],
      ['reference_installment.months', [0, -1, 1.5, '36', 601]],
      ['reference_installment.monthly_rate', [-0.01, '0.02', 1.01, 2]],
      ['payment_capacity', [{}, 'x', 5]],
      ['payment_capacity.0', [5, 'x', []]],
      ['payment_capacity.1.min_ratio', [0, -1, '3']],
      ['payment_capacity.2.points', [-1, 26, 1.5, '13']],
      ['channel.gig', [-1, 21, 0.5, '20']],
      ['debt_age.lt6', [-1, 21, 0.5, '20']],
      ['debt_age.6a12', [-1, 21]],
      ['debt_age.1a2', [-1, 21]],
      ['debt_age.gt2', [-1, 21]],
      ['num_debts.1', [-1, 21, '20']],
      ['num_debts.2', [-1, 21]],
      ['num_debts.3', [-1, 21]],
      ['prior_history.yes', [-1, 16, '15']],
      ['prior_history.no', [-1, 16]],
      ['decision.approved', [-1, 101, 69.5, '70']],
      ['decision.in_review', [-1, 101, 29.5, '30']],
      ['amount_limit.usd', [0, -1, '25000']],
      ['amount_limit.max_installment_share', [0, -0.4, 1.01, '1', null]],
      ['amount_limit.rates_as_of', ['', 'today', 20260101, '2026-1-1', '2026-01-01T00:00:00Z']],
      ['amount_limit.rates.COP', [0, -4000, '4000']],
      ['amount_limit.rates.USD', [0, {}]],
    ];
    for (const [path, values] of broken) {
      for (const value of [...values, null]) {
        const text = refusal(changed(path, value));
        assert.ok(
          text.includes('p.json') && text.includes(path),
          `${path} = ${JSON.stringify(value)}: ${text}`,
        );
      }
    }
  });

  it('D27: bands go from the highest ratio down, each once', () => {
    for (const ratios of [
      [3, 4, 2, 1.5],
      [4, 3, 3, 1.5],
      [4, 3, 2, 2],
    ]) {
      const bands = ratios.map((min_ratio) => ({ min_ratio, points: 1 }));
      assert.match(refusal(changed('payment_capacity', bands)), /payment_capacity/);
    }
  });

  it('contract "Outcome at creation": the score for approval must not be below the score for review', () => {
    const text = refusal(changed('decision', { approved: 29, in_review: 30 }));
    assert.match(text, /decision\.approved.*decision\.in_review/);
  });

  it('D27-D29: a value that is not an object is refused', () => {
    for (const content of [null, 5, 'x', true, [], {}]) assert.match(refusal(content), /p\.json/);
  });
});

describe('parsePolicy', () => {
  it('reads the text of a file', () => {
    const policy = changed('version', 'mine-1');
    assert.deepEqual(parsePolicy(JSON.stringify(policy), 'p.json'), policy);
  });

  it('names the file that is no JSON, is too large or breaks a rule', () => {
    const bad = [
      'not json',
      '',
      JSON.stringify(DEFAULT_POLICY).replace('{', '{"version":"other",'),
      JSON.stringify(changed('channel.gig', 21)),
      JSON.stringify(changed('version', 'x')).padEnd(65_537),
      '['.repeat(65_536),
    ];
    for (const text of bad)
      assert.throws(
        () => parsePolicy(text, 'p.json'),
        (error) => error instanceof ToldError && error.message.includes('p.json'),
      );
  });
});

for (const [name, text, expected] of [
  [
    'lists in lists',
    `{"version":"a-1","characteristics":${'['.repeat(32_000)}${']'.repeat(32_000)}}`,
    /p\.json: /,
  ],
  [
    'objects in objects',
    `{"version":"a-1","characteristics":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`,
    /p\.json: /,
  ],
  ['lists that do not end', '['.repeat(65_000), /p\.json cannot be read as JSON/],
  ['too many bytes', ' '.repeat(65_537), /p\.json is larger than a policy may be: 65536 bytes/],
] as const)
  it(`a file is refused with a text: ${name}`, () => {
    assert.throws(
      () => parsePolicy(text, 'p.json'),
      (error) => error instanceof ToldError && expected.test(error.message),
    );
  });
