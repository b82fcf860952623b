/** CSV by RFC 4180, compared with another parser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { CsvRecords } from '../../src/read/csv.ts';

interface Read {
  readonly records: string[][];
  /** The record that cannot be read; null where all can. */
  readonly faulty: number | null;
}

function ours(pieces: readonly string[], delimiter: string, maxCharacters = 1_000): Read {
  const csv = new CsvRecords(delimiter, maxCharacters);
  const records = pieces.flatMap((piece) => csv.add(piece));
  records.push(...csv.end());
  return { records, faulty: csv.fault?.record ?? null };
}

function theirs(text: string, delimiter: string): Read {
  const records: string[][] = [];
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      on_record: (record: string[]) => {
        records.push(record);
        return null;
      },
    });
    return { records, faulty: null };
  } catch (error) {
    assert.ok(error instanceof CsvError);
    return { records, faulty: records.length + 1 };
  }
}

/** A text cut into pieces. */
const cut = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat(40), { maxLength: 6 })).map(([whole, places]) => {
    const bounds = [0, ...places.filter((place) => place < whole.length).sort((a, b) => a - b), whole.length];
    return bounds.slice(1).map((end, index) => whole.slice(bounds[index], end));
  });

const delimiter = fc.constantFrom(',', ';', '\t');
const anyText = fc.stringMatching(/^[ab,;\t" \n\rñ😀]{0,40}$/u);
const lines = fc
  .array(
    fc.array(
      fc.oneof(
        fc.stringMatching(/^[ab ñ]{0,4}$/u),
        fc.stringMatching(/^[ab,;"\n\r]{0,6}$/).map((value) => `"${value.replaceAll('"', '""')}"`),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    { maxLength: 6 },
  )
  .chain((rows) =>
    fc
      .tuple(fc.constantFrom(',', ';', '\t'), fc.constantFrom('\n', '\r\n', '\r'), fc.boolean())
      .map(([sign, newline, isEnded]) => {
        const text = rows.map((cells) => cells.join(sign)).join(newline);
        return isEnded ? text + newline : text;
      }),
  );

for (const [what, text] of [
  ['whatever stands in it', anyText],
  ['where it is well formed', lines],
] as const) {
  test(`a text in any pieces reads as the other parser reads it: ${what}`, () => {
    fc.assert(
      fc.property(cut(text), delimiter, (pieces, sign) => {
        assert.deepEqual(ours(pieces, sign), theirs(pieces.join(''), sign));
      }),
      { numRuns: 3_000 },
    );
  });
}

test('a fault names its record, cell and line, and quotes no value', () => {
  const table: [text: string, record: number, cell: number | null, what: RegExp][] = [
    ['a,b\n1,x"y\n', 2, 1, /inside a value \(line 2\)/],
    ['a,b\n"1\n1","x"y\n', 2, 1, /inside a value \(line 3\)/],
    ['a,b\r\n"1\r\n1",2\r\n3, "4"\r\n', 3, 1, /inside a value \(line 4\)/],
    ['a,b\n1,"xy\n', 2, 1, /never closed/],
    [`a,b\n1,${'x'.repeat(1_000)}\n`, 2, null, /longer than 1000 characters/],
    [`a,b\n1,"${'x'.repeat(1_000)}`, 2, null, /is a quote never closed/],
  ];
  for (const [text, record, cell, what] of table) {
    const csv = new CsvRecords(',', 1_000);
    assert.equal([...csv.add(text), ...csv.end()].length, record - 1, text);
    const { fault } = csv;
    assert.deepEqual([fault?.record, fault?.cell], [record, cell], text);
    assert.match(fault?.message ?? '', what);
    assert.doesNotMatch(fault?.message ?? '', /xy|x"y|xxx/);
  }
});

test('a long record in many pieces is read a few times, not once a piece', () => {
  const cells = '"",'.repeat(100_000);
  const started = process.cpuUsage();
  const csv = new CsvRecords(',', 1_000_000);
  const records = (cells.match(/.{1,100}/g) ?? []).flatMap((piece) => csv.add(piece));
  records.push(...csv.end());
  assert.deepEqual([records.length, records[0]?.length], [1, 100_001]);
  // Reading it once a piece would take minutes.
  assert.ok(process.cpuUsage(started).user < 5_000_000);
});
