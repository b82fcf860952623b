/** The operator's terms are checked with texts that name file, place and rule (D45). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DEFAULT_CONTRACTS } from '../../src/subjects/signing/rules/default-contracts.ts';
import { TERMS_FILE } from '../../src/subjects/signing/settings.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { loadTerms } from '../../src/subjects/signing/uses/load-terms.ts';
import { TERMS } from '../support/terms.ts';

const folder = mkdtempSync(join(tmpdir(), 'terms-'));
after(() => rmSync(folder, { recursive: true }));

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
      /contracts\.one lacks \{withdrawal\}, which every contract tells/,
    ],
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
