/** An amount is never sent in another currency than the one that its cell shows (D8, D12). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import { RejectedFile } from '../../src/send/row-files.ts';
import { allOf, applicant, csvOf, fileOf, rowsOf, type SheetCell, sourceOf, workbookOf } from '../files.ts';

/** A text, or a number with its format. */
type Typed = string | readonly [value: number, format: string];
/** The currency that is sent; undefined where the service infers it. Or the fault of the amounts. */
type Outcome = string | undefined | RegExp;
type Case = readonly [income: Typed, debt: Typed, currency: string, outcome: Outcome];

/** A sheet with a row for each case. */
function sheetOf(cases: readonly Case[]): string {
  const styles: string[] = [];
  const cellOf = (typed: Typed): SheetCell =>
    typeof typed === 'string'
      ? { type: 'inlineStr', value: typed }
      : { value: String(typed[0]), style: styles.push(typed[1]) };
  const names = Object.keys(applicant({ currency: '' }));
  const rows = cases.map(([income, debt_amount, currency]) => {
    const amounts: Record<string, Typed> = { income, debt_amount };
    const person = applicant({ currency });
    return names.map((name) => cellOf(amounts[name] ?? String(person[name])));
  });
  return fileOf('a.xlsx', workbookOf([names.map(cellOf), ...rows], { styles }));
}

/** Each row has the amounts 1500 and 9000. */
async function assertCases(path: string, cases: readonly Case[]): Promise<void> {
  const source = await sourceOf(path);
  const rows = await allOf(source.convertedRows());
  for (const [index, [income, debt, own, outcome]] of cases.entries()) {
    const { application, faults, changes } = rows[index] ?? assert.fail();
    const what = `${income} ${debt} ${own}`;
    if (outcome instanceof RegExp) {
      assert.ok(faults.length > 0, what);
      for (const fault of faults) {
        assert.match(source.textOf(fault), outcome, what);
        assert.equal(application[fault.field], undefined, what);
      }
      continue;
    }
    assert.deepEqual(faults, [], what);
    const { income: first, debt_amount: second, currency } = application;
    assert.deepEqual([first, second, currency], [1500, 9000, outcome], what);
    const told = changes.filter(({ field }) => field === 'currency').map(({ change }) => change);
    assert.deepEqual(told, own === '' && outcome !== undefined ? ['currency beside the amount'] : [], what);
  }
}

const USD = '"USD" #,##0';
const PESOS = '[$$-240A] #,##0';
const FORMATS: readonly Case[] = [
  [[1500, USD], [9000, USD], '', 'USD'],
  [[1500, '[$US$-409]#,##0.00'], [9000, '0 "USD"'], '', 'USD'],
  [[1500, '[$R$-416] #,##0'], [9000, '[$R$-416] #,##0'], '', 'BRL'],
  [[1500, '"Bs" 0'], [9000, '[$VES] 0'], '', 'VES'],
  [[1500, USD], [9000, '0'], 'usd', 'usd'],
  [[1500, '"Bs" 0'], [9000, '"Bs" 0'], 'BOB', 'BOB'],
  [[1500, USD], 'USD 9000.00', '', 'USD'],
  // The sign of pesos and of dollars is that of the currency of the phone's country.
  [[1500, PESOS], [9000, '0'], '', 'COP'],
  [[1500, PESOS], [9000, '"$"0'], 'MXN', 'MXN'],
  [[1500, USD], [9000, '"COP" 0'], '', /^column "(income|debt_amount)": .*different currencies/],
  [
    [1500, USD],
    [9000, '0'],
    '',
    /^column "income": of the two amounts of the row only one names a currency: write/,
  ],
  [[1500, PESOS], [9000, USD], '', /^column "(income|debt_amount)": .*only one names a currency/],
  [
    [1500, PESOS],
    [9000, PESOS],
    'PEN',
    /^column "(income|debt_amount)": it names another currency than the field/,
  ],
  [
    [1500, USD],
    [9000, USD],
    'COP',
    /^column "(income|debt_amount)": it names another currency than the field/,
  ],
  [[1500, USD], [9000, '0'], 'dollars', /^column "currency": it is no code of a currency/],
  [[1500, '"Bs" 0'], [9000, '"Bs" 0'], '', /can be BOB or VES: write the row's currency/],
  [[1500, '"C$" 0'], [9000, '"C$" 0'], '', /can be NIO or CAD/],
  [[1500, '"TOP" 0'], [9000, '"TOP" 0'], '', /its format shows another number/],
];

test('XLSX: amounts are sent in the currency that their formats name, or refused', async () => {
  await assertCases(sheetOf(FORMATS), FORMATS);
});

const TEXTS: readonly Case[] = [
  ['USD 1500', 'USD 9000', '', 'USD'],
  ['US$1500.00', 'US$ 9,000.00', '', 'USD'],
  ['1500 usd', '9.000,00 USD', '', 'USD'],
  ['R$ 1.500,00', 'R$9000', '', 'BRL'],
  ['S/.1500', 'S/ 9\u00a0000', '', 'PEN'],
  ['1500,00\u00a0€', '9000€', '', 'EUR'],
  ['COP$ 1500', '9000', 'COP', 'COP'],
  ['$ 1.500,00', '$9000', '', 'COP'],
  ['$ 1500', '9000', '', 'COP'],
  ['$1.500,00', '$ 9,000.00', 'MXN', 'MXN'],
  ['$ COP 1500', '$ 9000', 'COP', 'COP'],
  ['$ 1500', '$ 9000', 'EUR', /another currency than the field/],
  ['$ 1500', 'USD 9000', '', /only one names a currency/],
  ['USD 1500', '9000', '', /^column "income": of the two amounts of the row only one names a currency/],
  ['USD 1500', 'MXN 9000', '', /different currencies/],
  ['USD 1500', 'USD 9000', 'MXN', /another currency than the field/],
  ['USD 1,500', 'USD 9000', '', /the amount is ambiguous/],
];

test('a text with a currency and an amount is read like a format with a currency', async () => {
  const list = TEXTS.map(([income, debt_amount, currency]) =>
    applicant({ income: String(income), debt_amount: String(debt_amount), currency }),
  );
  await assertCases(fileOf('a.csv', csvOf(list)), TEXTS);
  await assertCases(fileOf('a.json', JSON.stringify(list)), TEXTS);
  await assertCases(sheetOf(TEXTS), TEXTS);
});

test('a currency is sent as a code, or the row is refused: the service would take the currency of the phone', async () => {
  const cases: [typed: string, sent: string | undefined][] = [
    ['COP', 'COP'], ['usd', 'usd'], [' Mxn ', ' Mxn '], ['US$', 'USD'], ['R$', 'BRL'], ['S/', 'PEN'], ['€', 'EUR'], ['COP$', 'COP'],
    ['$', undefined], ['pesos', undefined], ['Dólares', undefined], ['Bs', undefined], ['XAU', undefined],
  ]; // biome-ignore format: one table
  const source = await sourceOf(fileOf('a.csv', csvOf(cases.map(([currency]) => applicant({ currency })))));
  const rows = await allOf(source.convertedRows());
  for (const [index, [typed, sent]] of cases.entries()) {
    const { application, faults } = rows[index] ?? assert.fail();
    assert.deepEqual([application.currency, faults.length], [sent, sent === undefined ? 1 : 0], typed);
  }
});

test('$ alone is the sign of the currency that the service would take, or the amount is refused (D12)', async () => {
  const taken: [phone: string, country: Country | null, sent: string | RegExp][] = [
    ['+57 300 555 0101', null, 'COP'],
    ['0052 55 5550 0205', 'CO', 'MXN'],
    ['+1 809 555 0101', null, 'DOP'],
    ['3005550101', 'CO', 'COP'],
    ['', 'CO', 'COP'],
    ['', 'EC', 'USD'],
    ['+51 900 555 204', 'CO', /sign \$ is not that of the currency of the phone's country: write the row's/],
    ['', 'PE', /sign \$ is not that/],
    ['+883 5100 1234', 'CO', /may mean pesos or dollars/],
    ['3005550101', null, /may mean pesos or dollars: write the row's currency.* or add --country/],
    ['', null, /may mean pesos or dollars/],
  ];
  for (const [phone, country, sent] of taken) {
    const person = applicant({ phone, income: '$ 3.200.000', debt_amount: '$6,000,000.00' });
    const source = (await sourceOf(fileOf('a.csv', csvOf([person])))).inCountry(country);
    const [row] = await allOf(source.convertedRows());
    const { income, debt_amount, currency } = row?.application ?? {};
    if (sent instanceof RegExp) {
      assert.match(row?.faults.map(source.textOf).join() ?? '', sent);
      assert.deepEqual([income, debt_amount], [undefined, undefined]);
    } else assert.deepEqual([income, debt_amount, currency], [3_200_000, 6_000_000, sent], phone);
  }
});

test('a text with other words or signs beside the amount is left to the service, which refuses it', async () => {
  const texts = [
    '$ -1500',
    '1500 pesos',
    'USD -5',
    '(USD 5)',
    'USD 15%',
    'USD 1.5M',
    'USD',
    'USD 1500 COP',
    'K 1500',
  ];
  const source = await sourceOf(fileOf('a.csv', csvOf(texts.map((income) => applicant({ income })))));
  const rows = await allOf(source.convertedRows());
  assert.deepEqual(
    rows.map(({ application: { income, currency } }) => [income, currency]),
    texts.map((text) => [text, undefined]),
  );
});

test('a rejected row keeps the currency of its amounts', async () => {
  const cases: Case[] = [
    [[1500, USD], [9000, USD], '', 'USD'],
    [[1500, '"Bs" #,##0'], [9000, '"Bs" 0'], 'VES', 'VES'],
  ];
  const path = sheetOf(cases);
  const { columns } = (await sourceOf(path)).table;
  const target = fileOf('rejected.csv', '');
  const file = new RejectedFile(`${target}.csv`, columns, ',');
  for (const row of await rowsOf(path)) await file.add(row, 'a reason');
  await file.finish();
  assert.match(readFileSync(`${target}.csv`, 'utf8'), /USD 1500/);
  await assertCases(`${target}.csv`, cases);
});

test('an ID number or a phone with the format of a currency is refused', async () => {
  const names = Object.keys(applicant());
  const textOf = (value: unknown): SheetCell => ({ type: 'inlineStr', value: String(value) });
  for (const field of ['id_number', 'phone']) {
    const cells = names.map((name) =>
      name === field ? { value: '1020304050', style: 1 } : textOf(applicant()[name]),
    );
    const book = workbookOf([names.map(textOf), cells], { styles: [USD] });
    const source = await sourceOf(fileOf('a.xlsx', book));
    const [row] = await allOf(source.convertedRows());
    assert.match(
      row?.faults.map(source.textOf).join() ?? '',
      new RegExp(`column "${field}".*amount of a currency`),
    );
  }
});
