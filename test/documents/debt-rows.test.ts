/** The debts in a statement, by its layout (D52; docs/documents.md, "Layouts"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ToldError } from '../../src/ground/base/told-error.ts';
import { judgeDocument } from '../../src/subjects/documents/rules/judge-document.ts';
import type { DebtsLayout } from '../../src/subjects/documents/rules/layout.ts';
import { findStatement } from '../../src/subjects/documents/rules/statement.ts';
import { checkLayout, loadLayouts } from '../../src/subjects/documents/uses/load-layouts.ts';
import { debtsRows, linesOf } from '../support/debts-statement.ts';
import { ANA } from './support.ts';

const layouts = await loadLayouts(null);
const palma = layouts.find((layout): layout is DebtsLayout => layout.kind === 'debts')!;
const text = (lines: readonly string[], confidence = 1, method: 'text' | 'ocr' = 'text') =>
  ({ method, pages: 1, lines, confidence }) as const;
const reasonOf = (lines: readonly string[], ...more: [confidence?: number, method?: 'text' | 'ocr']) =>
  judgeDocument('debts', text(lines, ...more), ANA, layouts).reason;

const AZUL = ['Banco Azul', '4711', '$ 4.000.000'];
const NU = ['Nu', '118', '$ 1.700.000', '15/09/2026'];
const TOTAL = '$ 5.700.000';
const lines = (rows: readonly (readonly string[])[], total: string | null = TOTAL, more = {}) =>
  linesOf(debtsRows({ ...ANA, asOf: '12/11/2026', rows, total, ...more }));

describe('the rows of a statement (D52)', () => {
  it('are debts with the day of the statement, and it counts', () => {
    const { debts, debtsFault, issued, currency, months } = findStatement(lines([AZUL, NU]), layouts);
    assert.deepEqual([debtsFault, issued, currency, months], [undefined, '2026-11', 'COP', []]);
    assert.deepEqual(debts, [
      {
        creditor: 'Banco Azul',
        reference: '4711',
        balance: '4000000',
        asOf: '2026-11-12',
        overdueSince: null,
      },
      {
        creditor: 'Nu',
        reference: '118',
        balance: '1700000',
        asOf: '2026-11-12',
        overdueSince: '2026-09-15',
      },
    ]);
    assert.equal(reasonOf(lines([AZUL, NU])), 'read');
  });

  it('may have the creditor of all of them in the layout', () => {
    const { kind, debts, ...rest } = palma;
    const own = {
      ...rest,
      kind,
      debts: { ...debts, creditor: 'Banco Palma', columns: 2, reference: 1, balance: 2 },
    };
    const { overdue_since: _, ...form } = own.debts;
    const found = findStatement(lines([['4711', '$ 5.700.000']]), [{ ...own, debts: form }]);
    assert.deepEqual(
      found.debts?.map(({ creditor, reference, balance }) => [creditor, reference, balance]),
      [['Banco Palma', '4711', '5700000']],
    );
  });

  const CASES: readonly [what: string, lines: readonly string[], reason: string][] = [
    ['a total that differs by a cent', lines([AZUL, NU], '$ 5.700.000,01'), 'total_differs'],
    ['a total that is missing', lines([AZUL, NU], null), 'total_differs'],
    ['a row that is missing', lines([AZUL]), 'total_differs'],
    ['no row', lines([]), 'debts_unclear'],
    ['only debts that are paid', lines([['Nu', '118', '$ 0']], '$ 0'), 'debts_unclear'],
    ['a row without its number', lines([AZUL, ['Nu', '$ 1.700.000']]), 'debts_unclear'],
    ['a row with another column', lines([AZUL, [...NU, 'x']]), 'debts_unclear'],
    ['a row in two lines', lines([AZUL, ['Nu 118'], ['$ 1.700.000']]), 'debts_unclear'],
    ['a balance that could be two', lines([AZUL, ['Nu', '118', '$ 1,700,000']]), 'debts_unclear'],
    [
      'a balance below zero',
      lines(
        [
          ['Nu', '118', '$ -5'],
          ['Nu', '119', '$ 10'],
        ],
        '$ 5',
      ),
      'debts_unclear',
    ],
    ['a day since when that is none', lines([['Nu', '118', '$ 5.700.000', '31/02/2026']]), 'debts_unclear'],
    ['no day of the balances', lines([AZUL, NU], TOTAL, { asOf: 'noviembre' }), 'debts_unclear'],
    [
      '21 debts',
      lines(
        Array.from({ length: 21 }, (_, n) => ['Nu', `${n}`, '$ 1']),
        '$ 21',
      ),
      'debts_unclear',
    ],
    ['another name', lines([AZUL, NU], TOTAL, { name: 'Luis Ruiz' }), 'another_holder'],
    ['another ID number', lines([AZUL, NU], TOTAL, { idNumber: '77777777' }), 'another_holder'],
    [
      'nobody’s name',
      lines([AZUL, NU], TOTAL, { name: '', idNumber: '' }).filter(
        (line) => !/^(Titular|Documento)/.test(line),
      ),
      'holder_not_found',
    ],
    ['no layout', lines([AZUL, NU]).filter((line) => !line.includes('ESTADO')), 'stored'],
  ];
  for (const [what, some, reason] of CASES)
    it(`with ${what}: ${reason}`, () => assert.equal(reasonOf(some), reason));

  it('that were guessed from a picture, or of which a part was not read, go to an operator', () => {
    assert.equal(reasonOf(lines([AZUL, NU]), 1, 'ocr'), 'low_confidence');
    assert.equal(reasonOf(lines([AZUL, NU]), 0.5), 'low_confidence');
  });

  it('are no months: as a statement of earnings it goes to an operator', () => {
    assert.equal(judgeDocument('earnings', text(lines([AZUL, NU])), ANA, layouts).reason, 'no_months');
  });
});

describe('a layout of debts of the operator', () => {
  const debts = palma.debts;
  const cases: readonly [what: string, change: object, error: RegExp][] = [
    ['without a day', { as_of: undefined }, /as_of/],
    ['with an unknown part', { debts: { ...debts, colour: 1 } }, /colour is no part of a layout/],
    ['with a column behind the last one', { debts: { ...debts, balance: 5 } }, /debts.columns must be/],
    ['with a column for two things', { debts: { ...debts, balance: 2 } }, /name a column twice/],
    ['with months', { months: { amount: 1, decimal: null } }, /months is no part/],
  ];
  for (const [what, change, error] of cases)
    it(`${what} is refused`, () =>
      assert.throws(
        () => checkLayout(JSON.parse(JSON.stringify({ ...palma, ...change })), 'mine.json'),
        (thrown) => thrown instanceof ToldError && error.test(thrown.message),
      ));
});
