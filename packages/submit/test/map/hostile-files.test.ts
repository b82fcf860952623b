/**
 * Files as spreadsheets and programs leave them, from values that are known: each row is sent with the value that was
 * meant, or refused; so is each row of its file of rejected rows (D7, D8, D11). HOSTILE_FILES sets their number.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readApplication } from '../../../../src/domain/application/read-application.ts';
import { normalisePhone } from '../../../../src/domain/phone/phone.ts';
import { BULK_FIELDS } from '../../src/map/columns.ts';
import { RejectedFile } from '../../src/send/row-files.ts';
import {
  type Applicant,
  allOf,
  applicant,
  csvOf,
  fileOf,
  type SheetCell,
  sourceOf,
  workbookOf,
} from '../files.ts';

const FILES = Number(process.env.HOSTILE_FILES ?? 60);

type Write = (digits: string) => string;
const grouped = (sign: string) => (digits: string) => digits.replace(/\B(?=(\d{3})+$)/g, sign);
const scientific = (decimals: number) => (digits: string) => Number(digits).toExponential(decimals);

/** Shown with an exponent, saved, opened as a number again, and saved with all of its digits. */
const reopened = (digits: string, decimals: number) => String(Number(scientific(decimals)(digits)));

/** What programs make of the digits of an ID number or a phone. */
const DIGITS: readonly Write[] = [
  (digits) => digits,
  ...['.0', ',0', '.00', ',00', '.000000', '.5', ',25', '.01'].map(
    (end): Write =>
      (digits) =>
        digits + end,
  ),
  ...[',', '.', ' ', '\u00a0', '\u202f', '\u2009', "'", '’'].flatMap((sign): Write[] => [
    grouped(sign),
    ...['.00', ',00', '.5', ',5']
      .filter((end) => !end.startsWith(sign))
      .map(
        (end): Write =>
          (digits) =>
            grouped(sign)(digits) + end,
      ),
  ]),
  ...[2, 4, 5, 8, 9, 14].flatMap((decimals): Write[] => [
    (digits) => scientific(decimals)(digits).replace('e+', 'E'),
    (digits) => scientific(decimals)(digits).toUpperCase().replace('.', ','),
    (digits) => scientific(decimals)(digits).replace('e+', 'e+0'),
    (digits) => scientific(decimals)(digits).replace('e+', 'E '),
    (digits) => scientific(decimals)(digits).replace('e+', ' E+ '),
    (digits) => scientific(decimals)(digits).replace('e+', 'D+'),
    (digits) => scientific(decimals)(digits).replace('e+', 'x10^'),
    (digits) => scientific(decimals)(digits).replace('e+', '·10^'),
    (digits) => scientific(decimals)(digits).replace('e+', ' × 10^'),
  ]),
  ...['', '.0'].flatMap((end): Write[] => [
    (digits) => reopened(digits, 2) + end,
    // The format General shortens numbers of 12 digits and more.
    (digits) => (digits.length < 12 ? digits : reopened(digits, 5)) + end,
  ]),
  ...["'", '’', '="', '\ufeff', '\u202a', '\u200b', '$', '$ ', '-', '(', '#'].map((mark): Write => {
    const ends: Record<string, string> = { '="': '"', '(': ')' };
    return (digits) => mark + digits + (ends[mark] ?? '');
  }),
  ...['%', ' %', '-', '.-', '\u00a0', '\u200e', '\t'].map(
    (end): Write =>
      (digits) =>
        digits + end,
  ),
  (digits) => digits.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  (digits) => digits.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
  (digits) => `57 ${digits}.00`,
  (digits) => `57-${digits},0`,
  (digits) => `CC ${digits}.00`,
];
/** Written in the place of any value. */
const INSTEAD = [
  '#N/A', '#¡REF!', '########', 'nan', 'NULL', 'VERDADERO', '=A1', '0.0', '-1', '2024-01-05', '05/01/2024', '5/1/24 10:30', '12/31/24 10:30',
  '05-01-24', '05-01-24 10:30', '5 de enero de 2024', 'viernes, 5 de enero de 2024', 'January 5, 2024', '5-Jan-24', '5 ene 2024', 'ene-24',
  '10:30', '45296.5', '1E+09', 'Err:502',
]; // biome-ignore format: one list

const AMOUNTS: readonly ((value: number) => string)[] = [
  String,
  ...['es-CO', 'es-MX', 'pt-BR', 'en-US', 'de-CH', 'fr-FR', 'pt-PT', 'en-IN', 'ar-EG'].flatMap((place) =>
    [0, 2].map((digits) => (value: number) => {
      const options = { minimumFractionDigits: digits, maximumFractionDigits: 2, useGrouping: true };
      return value.toLocaleString(place, options);
    }),
  ),
  ...[0, 1, 2, 3, 4, 5, 9].flatMap((decimals) => [
    (value: number) => value.toExponential(decimals).toUpperCase(),
    (value: number) => value.toExponential(decimals).toUpperCase().replace('.', ','),
    (value: number) => value.toExponential(decimals).replace('e+', 'E+0'),
  ]),
  (value) => value.toExponential(5).replace('e+', 'e+0'),
  (value) => `${(value / 1000).toFixed(1)}E+3`,
  (value) => `$ ${value}`,
  (value) => `${value} COP`,
  (value) => `${value}%`,
  (value) => `(${value})`,
  (value) => `${value}-`,
  (value) => `'${value}`,
  (value) => `="${value}"`,
  (value) => `${value / 1_000_000} M`,
];

const FORMATS = [
  'General', '0', '@', '0000000000000', '#,##0', '#,##0.00', '"57"0', '000\\.000\\.000\\-00', '0.00E+00', '##0.0E+0', '0%', '#,##0,', 'dd/mm/yyyy',
  '0" mil"', '[$$-240A] #,##0.00', ';;;', '0",00"', '[>9]0;0',
]; // biome-ignore format: one list

interface Row {
  readonly field: string;
  readonly meant: string;
  readonly typed: string;
}

const digits = fc.oneof(
  fc.integer({ min: 1_000_000_000, max: 9_999_999_999 }),
  fc.integer({ min: 573_000_000_000, max: 573_299_999_999 }),
  fc.constantFrom(573_005_000_000, 573_006_000_000, 1_020_000_000),
);
const amount = fc.integer({ min: 10_000, max: 9_999_999 });

function rowsOf(number: number, money: number): Row[] {
  const texts = [...DIGITS.map((write) => write(String(number)))];
  return [
    ...['id_number', 'phone'].flatMap((field) =>
      [...texts, ...INSTEAD].map((typed) => ({ field, meant: String(number), typed })),
    ),
    ...AMOUNTS.map((write) => ({ field: 'income', meant: String(money), typed: write(money) })),
    ...['name', 'city', 'currency', 'platform'].flatMap((field) =>
      INSTEAD.map((typed) => ({ field, meant: '', typed })),
    ),
  ];
}

/** The value as it means the same, whatever stands between its digits. */
function bare(field: string, value: unknown): string {
  if (field === 'phone') return String(normalisePhone(String(value), 'CO'));
  return field === 'id_number' ? String(value).replace(/^CC |^#|[. \u00a0-]/g, '') : String(value);
}

/** What the service stores of each row; null where the row is refused. */
async function storedIn(path: string) {
  const source = await sourceOf(path);
  const rows = await allOf(source.convertedRows());
  const stored = rows.map(({ row, application, faults }) => {
    if (faults.length > 0 || row.fault !== null) return null;
    const reading = readApplication(application, BULK_FIELDS, 'CO');
    return reading.kind === 'valid' ? (reading.application as unknown as Record<string, unknown>) : null;
  });
  return { source, rows, stored };
}

function assertMeant(
  rows: readonly Row[],
  stored: readonly (Record<string, unknown> | null)[],
  what: string,
) {
  const wrong = rows.flatMap(({ field, meant, typed }, place) => {
    const value = stored[place]?.[field];
    if (value === undefined || value === null || bare(field, value) === bare(field, meant)) return [];
    return [`${field} ${JSON.stringify(typed)} was stored as ${value} (${what})`];
  });
  assert.deepEqual(wrong, []);
}

/** The rows are refused for another reason; what the person submits again must mean the same. */
async function assertResubmitted(rows: readonly Row[], path: string): Promise<void> {
  const { source, rows: converted } = await storedIn(path);
  const rejected = new RejectedFile(`${path}.rejected.csv`, source.table.columns, ',');
  for (const { row } of converted) await rejected.add(row, 'another reason');
  await rejected.finish();
  assertMeant(rows, (await storedIn(rejected.path)).stored, 'submitted again');
}

const applicantOf = ({ field, typed }: Row): Applicant => applicant({ [field]: typed });

function sheetOf(
  rows: readonly Row[],
  cellOf: (row: Row, place: number) => SheetCell,
  styles: string[] = [],
): Buffer {
  const names = Object.keys(applicant({ currency: 'COP', platform: 'gig' }));
  const text = (value: unknown): SheetCell => ({ type: 'inlineStr', value: String(value) });
  const cells = rows.map((row, place) => {
    const values = Object.values(applicant({ currency: 'COP', platform: 'gig' })).map(text);
    return values.with(names.indexOf(row.field), cellOf(row, place));
  });
  return workbookOf([names.map(text), ...cells], { styles });
}

const FORMS: readonly ((rows: readonly Row[]) => readonly [rows: readonly Row[], path: string])[] = [
  (rows) => [rows, fileOf('a.csv', csvOf(rows.map(applicantOf)))],
  (rows) => [rows, fileOf('a.csv', `\ufeff${csvOf(rows.map(applicantOf), ';', '\r\n')}`)],
  (rows) => [rows, fileOf('a.csv', Buffer.from(`\ufeff${csvOf(rows.map(applicantOf), '\t')}`, 'utf16le'))],
  (rows) => [rows, fileOf('a.jsonl', rows.map((row) => JSON.stringify(applicantOf(row))).join('\n'))],
  (rows) => {
    // A text cell of a sheet was typed as a text: its zeros are right.
    const texts = rows.filter(({ typed }) => !/^\d+0{6}$/.test(typed));
    const cellOf = ({ typed }: Row): SheetCell => ({ type: 'inlineStr', value: typed });
    return [texts, fileOf('a.xlsx', sheetOf(texts, cellOf))];
  },
  (rows) => {
    const numbers = ['id_number', 'income'].flatMap((field) => {
      const meant = rows.find((row) => row.field === field)?.meant ?? '';
      return FORMATS.map(() => ({ field, meant, typed: meant }));
    });
    const cells = (row: Row, place: number): SheetCell => ({
      value: row.meant,
      style: 1 + (place % FORMATS.length),
    });
    // The text that such a format shows is meant: the person sees no other.
    const shown: Record<string, (value: string) => string> = {
      '"57"0': (value) => `57${value}`,
      '0" mil"': (value) => `${value} mil`,
      '000\\.000\\.000\\-00': (value) => value.padStart(11, '0'),
      '0000000000000': (value) => value.padStart(13, '0'),
    };
    const meant = numbers.map((row, place) => {
      const show = shown[FORMATS[place % FORMATS.length] ?? ''];
      return row.field === 'income' || show === undefined ? row : { ...row, meant: show(row.meant) };
    });
    return [meant, fileOf('a.xlsx', sheetOf(numbers, cells, FORMATS))];
  },
];

test('no value that a program changed is sent, nor sent again from the rejected rows', async () => {
  const samples = fc.sample(fc.tuple(digits, amount), Math.ceil(FILES / FORMS.length));
  for (const [number, money] of samples) {
    for (const [place, form] of FORMS.entries()) {
      const [rows, path] = form(rowsOf(number, money));
      assertMeant(rows, (await storedIn(path)).stored, `form ${place}, ${path.slice(-5)}`);
      await assertResubmitted(rows, path);
    }
  }
});
