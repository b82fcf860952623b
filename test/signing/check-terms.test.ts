/** The operator's terms are checked with texts that name file, place and rule (D45). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { priceLoan } from '../../src/domain/loan/offer.ts';
import type { CountryTerms } from '../../src/domain/loan/terms.ts';
import { DEFAULT_CONTRACTS } from '../../src/subjects/signing/rules/default-contracts.ts';
import { TERMS_FILE } from '../../src/subjects/signing/settings.ts';
import { checkTerms, NotOfferedError } from '../../src/subjects/signing/uses/check-terms.ts';
import { loadTerms } from '../../src/subjects/signing/uses/load-terms.ts';
import { commandLine } from '../cli/harness.ts';
import type { TestStore } from '../support/database.ts';
import { TERMS } from '../support/terms.ts';

const folder = mkdtempSync(join(tmpdir(), 'terms-'));
after(() => rmSync(folder, { recursive: true }));

const WITH_TAX = DEFAULT_CONTRACTS['standard-en'];

/** The terms with one value changed; `path` leads to it. */
function changed(path: string, value: unknown): unknown {
  const content = structuredClone(TERMS) as Record<string, unknown>;
  const names = path.split('.');
  let at = content;
  for (const name of names.slice(0, -1)) at = at[name] as Record<string, unknown>;
  const last = names.at(-1) as string;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return content;
}

test('D45: good terms are taken, with the built-in templates beside their own', () => {
  const terms = checkTerms(TERMS, 'terms.json');
  assert.equal(terms.countries.CO?.lender.name, TERMS.countries.CO.lender.name);
  assert.equal(terms.demonstration, false);
  assert.ok(Object.hasOwn(terms.contracts, 'standard-pt'));
});

test('D45: the example that the document names is taken', async () => {
  const terms = await loadTerms({ path: join(import.meta.dirname, '../../examples/terms.json') });
  assert.equal(terms?.countries.CO?.contract, 'standard-es');
});

test('D45: a fault names the file, the place and the rule', () => {
  const template = DEFAULT_CONTRACTS['standard-es'];
  const table: readonly (readonly [path: string, value: unknown, message: RegExp])[] = [
    ['version', '', /version must/],
    ['countries.CO.monthly_rate', 2, /countries\.CO\.monthly_rate must be string/],
    ['countries.CO.monthly_rate', '2,5', /countries\.CO\.monthly_rate must match/],
    ['countries.CO.months', 0, /countries\.CO\.months must be >= 1/],
    ['countries.CO.lender', undefined, /countries\.CO must have required properties lender/],
    [
      'countries.CO.lender.name',
      'Acme\u202e',
      /countries\.CO\.lender\.name has control or invisible characters/,
    ],
    ['countries.CO.currency', 'XXX', /countries\.CO\.currency must/],
    ['countries.CO.zone', 'America/Bogotá', /countries\.CO\.zone is no time zone/],
    ['countries.CO.minimum', '999999999999', /countries\.CO\.minimum must not be above maximum/],
    ['countries.CO.legal_maximum', { '2026-13': '20' }, /countries\.CO\.legal_maximum/],
    ['countries.CO.withdrawal', { days: 5, kind: 'working' }, /countries\.CO\.withdrawal/],
    [
      'countries.CO.contract',
      'nowhere',
      /countries\.CO\.contract names no template; there are: .*standard-es/,
    ],
    [
      'countries.CO.fees',
      [{ name: 'x', when: 'monthly' }],
      /countries\.CO\.fees\.0 must have either amount or percent/,
    ],
    [
      'countries.CO.fees',
      [{ name: 'x', when: 'monthly', amount: '1', kind: 'gift' }],
      /countries\.CO\.fees\.0\.kind/,
    ],
    ['countries.CO.term', { minimum: 30, maximum: 36 }, /countries\.CO\.months must be within term/],
    ['countries.CO.insurance', { name: 'x', percent: '-1' }, /countries\.CO\.insurance\.percent must match/],
    ['countries.ZZ', TERMS.countries.CO, /countries\.ZZ is no country code/],
    [
      'contracts',
      { one: { ...template, title: '{nombre}' } },
      /contracts\.one has the unknown placeholder \{nombre\}/,
    ],
    ['contracts', { one: { ...template, title: 'a {b' } }, /contracts\.one has a brace without its pair/],
    [
      'contracts',
      { one: { ...template, sections: template?.sections.slice(0, 2) } },
      new RegExp(
        'contracts\\.one lacks \\{contract\\}, \\{date\\}, \\{expires\\}, \\{creditors\\}, \\{to_applicant\\}, \\{disbursement\\}, \\{first_due\\}, ' +
          '\\{payment\\}, \\{withdrawal\\}, \\{late_rate\\}, \\{late_consequences\\}, \\{complaints\\}, ' +
          '\\{supervisor\\}, a section with "schedule": true \\(the table of installments\\), which every contract tells',
      ),
    ],
    ['countries.CO.lender.address', 'Calle\u202e', /countries\.CO\.lender\.address has control or invisible/],
    ['countries.CO.complaints', 'a\u0007b', /countries\.CO\.complaints has control or invisible/],
    ['countries.CO.late_rate', '-1', /countries\.CO\.late_rate must/],
    ['countries.CO.acceleration', { days: 1, installments: 1 }, /countries\.CO\.acceleration/],
    ['countries.CO.privacy_notice', 'x'.repeat(121), /countries\.CO\.privacy_notice must/],
    ['surprise', 1, /surprise is unknown here/],
  ];
  for (const [path, value, message] of table) {
    assert.throws(
      () => checkTerms(changed(path, value), 'terms.json'),
      (error: Error) => error.message.startsWith('TERMS_FILE terms.json: ') && message.test(error.message),
      `${path} = ${JSON.stringify(value)?.slice(0, 80)}`,
    );
  }
});

test('D45: without a file the embedded store has the terms of the demo, and a database of the operator has none', async () => {
  const read = (text: string | undefined, ownDatabase: boolean) =>
    loadTerms(TERMS_FILE.read(text, { dataDir: folder, ownDatabase }));
  const demo = await read(undefined, false);
  assert.equal(demo?.demonstration, true);
  assert.equal(demo?.countries.CO?.lender.number, 'DEMO-000');
  assert.equal(await read(undefined, true), null);
  const path = join(folder, 'terms.json');
  writeFileSync(path, JSON.stringify(TERMS));
  assert.equal((await read(path, true))?.version, TERMS.version);
  writeFileSync(path, '{');
  await assert.rejects(read(path, true), /TERMS_FILE .*terms\.json cannot be read as JSON/);
  await assert.rejects(
    read(join(folder, 'absent'), true),
    /TERMS_FILE .*absent cannot be read as JSON: .*ENOENT/,
  );
});

/** Terms of 1.8 % a month with a fixed fee, which weighs most on small loans. */
const WITH_FEE = {
  ...TERMS.countries.CO,
  fees: [{ name: 'Estudio', when: 'financed', amount: '30000' }],
  term: { minimum: 12, maximum: 24 },
  minimum: '200000',
  legal_maximum: { '2026-10': '99', '2026-11': '25' },
  late_rate: 'none',
};

test('D45: terms that name a loan which they cannot offer are refused, with the first one and the least that can be', () => {
  const checked = (changes: object) =>
    checkTerms({ ...TERMS, countries: { CO: { ...WITH_FEE, ...changes } } }, 'terms.json');
  const refusalOf = (changes: object) => {
    try {
      checked(changes);
    } catch (error) {
      if (error instanceof NotOfferedError) return error.notOffered;
      throw error;
    }
    return null;
  };
  const refused = refusalOf({})!;
  assert.deepEqual([refused.amount, refused.months, refused.reason], ['200000', 12, 'above_maximum']);
  // From the least amount on each one can be offered, whatever its rounding; far below none can be.
  assert.equal(refusalOf({ minimum: refused.least, term: undefined, months: 12 }), null);
  const terms = {
    ...WITH_FEE,
    maximum: '100000000',
    months: 12,
    legal_maximum: { '2026-11': '25' },
  } as CountryTerms;
  const kindAt = (amount: bigint) => {
    const asked = { amount: `${amount}`, currency: 'COP' };
    return priceLoan('CO', terms, asked, new Date('2026-11-23T15:00:00Z')).kind;
  };
  const least = BigInt(refused.least!);
  for (let more = 0n; more < 300n; more += 1n) assert.equal(kindAt(least + more), 'priced', `${more}`);
  for (let less = least / 50n; less < least / 50n + 100n; less += 1n)
    assert.equal(kindAt(least - less), 'blocked', `${less}`);
  // The newest month counts.
  assert.equal(refusalOf({ legal_maximum: { '2026-11': '25', '2026-12': '99' } }), null);
  assert.equal(refusalOf({ legal_maximum: { '2026-11': '10' } })?.least, null);
  assert.equal(refusalOf({ minimum: '1', fees: [] })?.reason, 'below_minimum');
  assert.throws(
    () => checked({}),
    /TERMS_FILE terms\.json: countries\.CO cannot offer 200000 COP over 12 months/,
  );
});

test('D45: a late rate above the legal maximum is refused, compared unrounded (CO: C. de Co. 884); MX has none', () => {
  const lateFaultOf = (country: 'CO' | 'MX', late_rate: string, maximum: string) => {
    const currency = country === 'CO' ? 'COP' : 'MXN';
    const ofCountry = { ...TERMS.countries.CO, currency, monthly_rate: '0.5', fees: [], late_rate };
    const countries = {
      [country]: { ...ofCountry, contract: 'standard-en', legal_maximum: { '2026-12': maximum } },
    };
    try {
      checkTerms({ version: '1', contracts: { 'standard-en': WITH_TAX }, countries }, 'terms.json');
    } catch (error) {
      return (error as Error).message;
    }
    return null;
  };
  // 1 % a month is 12.682503013196972066 1201 % a year: a maximum of 12.6825 is passed, 12.6826 is not.
  for (const [rate, maximum, isAbove] of [
    ['1', '12.6825', true],
    ['1', '12.6826', false],
    // Rounded to two digits, 24.3636 would be 24.36.
    ['1.8336', '24.36', true],
    ['1.8333', '24.36', false],
    // No other late rate than 0 is exactly at a maximum of four digits.
    ['0', '6.17', false],
  ] as const) {
    const fault = lateFaultOf('CO', rate, maximum);
    assert.equal(
      /late_rate is .* % a year, which is above the legal maximum of 2026-12/.test(fault ?? ''),
      isAbove,
    );
    assert.equal(fault !== null, isAbove, `${rate} ${maximum} ${fault}`);
    assert.equal(lateFaultOf('MX', rate, maximum), null);
  }
});

test('D45: a template of a country tells what this country asks for, beside what every contract tells', () => {
  const { MX } = { MX: { ...TERMS.countries.CO, currency: 'MXN', contract: 'mine' } };
  const check = (template: unknown) =>
    checkTerms({ version: '1', contracts: { mine: template }, countries: { MX } }, 'terms.json');
  assert.equal(check(WITH_TAX).version, '1');
  const text = JSON.stringify(WITH_TAX).replace('{tax}', '').replace('{complaints}', '');
  assert.throws(
    () => check(JSON.parse(text)),
    /contracts\.mine lacks \{complaints\}, \{tax\}, which every contract/,
  );
});

test('D45: terms without what a contract tells are priced, and terms check says that nobody gets a contract', async () => {
  const path = join(folder, 'lacking.json');
  const { run } = commandLine({} as TestStore, { TERMS_FILE: path });
  const { payment: _, complaints: __, ...rest } = TERMS.countries.CO;
  const CO = { ...rest, lender: { name: 'A', number: '1' } };
  writeFileSync(path, JSON.stringify({ ...TERMS, countries: { CO } }));
  const told = await run('terms', 'check', path);
  assert.equal(told.code, 0);
  assert.match(
    told.out,
    /Nobody in CO gets a contract: countries\.CO lacks lender\.address, payment, complaints\./,
  );
  const { lacking } = JSON.parse((await run('terms', 'check', path, '--json')).out) as { lacking: object };
  assert.deepEqual(lacking, { CO: ['lender.address', 'payment', 'complaints'] });
});

test('D45: terms check and terms price say what the file offers', async () => {
  const path = join(folder, 'checked.json');
  const { run } = commandLine({} as TestStore, { TERMS_FILE: path });
  writeFileSync(path, JSON.stringify({ ...TERMS, countries: { ...TERMS.countries, CO: WITH_FEE } }));
  const refused = await run('terms', 'check', path, '--json');
  assert.equal(refused.code, 1);
  const { ok, amount, months, reason } = JSON.parse(refused.out) as Record<string, unknown>;
  assert.deepEqual([ok, amount, months, reason], [false, '200000', 12, 'above_maximum']);
  assert.match((await run('terms', 'check', path)).err, /cannot offer 200000 COP over 12 months/);

  const peru = { ...TERMS.countries.CO, currency: 'PEN' };
  writeFileSync(path, JSON.stringify({ ...TERMS, countries: { ...TERMS.countries, PE: peru } }));
  const taken = await run('terms', 'check', path);
  assert.deepEqual([taken.code, /Nobody in PE gets a contract/.test(taken.out)], [0, true]);
  const priced = await run(
    ...['terms', 'price', '--country', 'CO', '--amount', '6000000'],
    ...['--on', '2027-01-31', '--json'],
  );
  const loan = JSON.parse(priced.out) as { total: string; schedule: Record<string, string>[] };
  assert.deepEqual(
    loan.schedule.slice(0, 2).map(({ due }) => due),
    ['2027-02-28', '2027-03-31'],
  );
  const sum = loan.schedule.reduce((total, { payment }) => total + BigInt(payment!), 0n);
  assert.deepEqual([loan.schedule.length, `${sum}`], [24, loan.total]);
  for (const [option, value, text] of [
    ['--country', 'MX', /there are no terms for MX/],
    ['--country', 'PE', /nobody in PE gets a contract: no_rules/],
    ['--amount', '99999', /cannot be offered: below_minimum/],
    ['--months', '25', /--months must be from 24 to 24/],
  ] as const) {
    const options = { '--country': 'CO', '--amount': '6000000', '--on': '2027-01-31', [option]: value };
    assert.match((await run('terms', 'price', ...Object.entries(options).flat())).err, text);
  }
});
