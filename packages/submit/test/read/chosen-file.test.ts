/** A file that somebody chooses in a browser gives the rows, the faults and the batches that it gives on a disk. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { nodeFile } from '../../src/commands/node-file.ts';
import { checkRows } from '../../src/map/check.ts';
import { serviceRules } from '../../src/map/rules.ts';
import { openSource } from '../../src/map/source.ts';
import type { ByteSource } from '../../src/read/byte-source.ts';
import { chosenFile } from '../../src/read/chosen-file.ts';
import { HeldBatches } from '../../src/send/cut.ts';
import { applicant, csvOf, fileOf, PLAIN, xlsxOf } from '../files.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples');
const LIST = [
  applicant(),
  applicant({ name: 'Íñigo Muñoz', phone: '3005550101', income: '1.500', city: 'Medellín' }),
  applicant({ name: 'Mu?oz', debt_age: 'Más de 2 años', num_debts: 7, messaging_optin: 'sí' }),
  applicant({ id_number: 1234567890123450, phone: '+57 300 555 01', income: 'USD 1500' }),
];
const MANY = Array.from({ length: 700 }, (_, index) => ({
  ...LIST[index % LIST.length],
  id_number: `1020${index}3`,
}));
const FILES: readonly string[] = [
  ...readdirSync(EXAMPLES)
    .filter((name) => /\.(csv|json)$/.test(name))
    .map((name) => join(EXAMPLES, name)),
  ...[LIST, MANY].flatMap((list) => [
    fileOf('utf8.csv', csvOf(list)),
    fileOf('semicolon.csv', `\ufeff${csvOf(list, ';', '\r\n')}`),
    fileOf('windows.csv', Buffer.from(csvOf(list), 'latin1')),
    fileOf('utf16.csv', Buffer.from(`\ufeff${csvOf(list)}`, 'utf16le')),
    fileOf('a.json', JSON.stringify({ applications: list })),
    fileOf('a.jsonl', list.map((one) => JSON.stringify(one)).join('\n')),
    fileOf('a.xlsx', xlsxOf(list)),
  ]),
  fileOf('empty.csv', ''),
  fileOf('cut.xlsx', xlsxOf(LIST).subarray(0, 900)),
  fileOf('broken.xlsx', flipped(xlsxOf(LIST))),
  fileOf('two.csv', Buffer.concat([Buffer.from(csvOf(LIST)), Buffer.from(csvOf(LIST), 'latin1')])),
  fileOf('quote.csv', csvOf(LIST).replace('"Íñigo', '""Íñigo')),
];

function flipped(book: Buffer): Buffer {
  book[200]! ^= 0x55;
  return book;
}

/** All that reading a file gives, as far as it comes. */
async function readingOf(open: () => Promise<ByteSource>) {
  try {
    const source = await openSource(await open(), {
      ...PLAIN,
      conversion: { ...PLAIN.conversion, country: 'CO' },
    });
    const held = new HeldBatches(source);
    const refused: [row: number, reason: string][] = [];
    const check = await checkRows(source, {
      judge: serviceRules(source, 'PRO'),
      onRow: (row) => held.add(row),
      onRefused: async ({ number }, reason) => void refused.push([number, reason]),
    });
    const { sha256, format, encoding } = source.file;
    const { columns, notes, headerRow } = source.table;
    return {
      sha256,
      format,
      encoding,
      columns,
      notes,
      headerRow,
      settings: source.settings,
      check,
      refused,
      batches: held.end(),
    };
  } catch (error) {
    return (error as Error).message;
  }
}

test('a chosen file reads as the same file on a disk does, whole or damaged', async () => {
  for (const path of FILES) {
    const inBrowser = new File([readFileSync(path)], basename(path));
    const read = await readingOf(async () => chosenFile(inBrowser));
    assert.deepEqual(read, await readingOf(() => nodeFile(path)), path);
  }
});

test('the checksum goes on from piece to piece', async () => {
  const bytes = Buffer.from('123456789');
  const { crc32 } = chosenFile(new File([], 'a'));
  assert.equal(crc32(bytes, 0), 0xcbf43926);
  assert.equal(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4), 0)), 0xcbf43926);
});
