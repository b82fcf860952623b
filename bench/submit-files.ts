/** Writes files of many applicants in every format, as a stream. */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { crc32, createDeflateRaw } from 'node:zlib';
import { applicant } from './applicants.ts';

const FIELDS = [
  'name', 'id_number', 'city', 'phone', 'platform', 'currency', 'income', 'debt_amount', 'num_debts', 'debt_age',
  'prior_history', 'messaging_optin',
]; // biome-ignore format: one list
const PIECE = 64 * 1024;

type Values = readonly (string | number | boolean)[];

function* applicants(rows: number): Generator<Values> {
  for (let row = 0; row < rows; row += 1) {
    // Odd numbers have no zeros at their ends, for which an ID number would be refused.
    const values = applicant(2 * row + 1);
    yield FIELDS.map((field) => values[field] ?? '');
  }
}

/** Writes `rows` applicants to a path that ends in .csv, .jsonl, .json or .xlsx. */
export async function writeApplicants(path: string, rows: number): Promise<void> {
  const stream = createWriteStream(path);
  if (path.endsWith('.xlsx')) await writeXlsx(stream, rows);
  else for (const piece of pieces(linesOf(path, rows))) await write(stream, piece);
  stream.end();
  await once(stream, 'close');
}

function* linesOf(path: string, rows: number): Generator<string> {
  if (path.endsWith('.csv')) {
    yield `${FIELDS.join(',')}\n`;
    for (const values of applicants(rows)) yield `${values.map(csvCell).join(',')}\n`;
    return;
  }
  const array = path.endsWith('.json');
  let before = array ? '{"applications":[\n' : '';
  for (const values of applicants(rows)) {
    yield before + JSON.stringify(Object.fromEntries(values.map((value, place) => [FIELDS[place], value])));
    before = array ? ',\n' : '\n';
  }
  if (array) yield ']}';
}

function csvCell(value: Values[number]): string {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function* pieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

async function write(stream: WriteStream, bytes: string | Buffer): Promise<void> {
  if (!stream.write(bytes)) await once(stream, 'drain');
}

/** Writes XLSX with shared texts, as spreadsheets do. */
async function writeXlsx(stream: WriteStream, rows: number): Promise<void> {
  const texts = new Map<string, number>();
  const shared = (text: string) => {
    if (!texts.has(text)) texts.set(text, texts.size);
    return texts.get(text);
  };
  const cell = (value: Values[number], place: number, row: number) => {
    const reference = `${String.fromCharCode(65 + place)}${row}`;
    if (typeof value === 'number') return `<c r="${reference}"><v>${value}</v></c>`;
    if (typeof value === 'boolean') return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`;
    return `<c r="${reference}" t="s"><v>${shared(value)}</v></c>`;
  };
  function* sheet() {
    yield '<worksheet><sheetData>';
    let row = 1;
    yield rowOf(FIELDS, row++);
    for (const values of applicants(rows)) yield rowOf(values, row++);
    yield '</sheetData></worksheet>';
  }
  const rowOf = (values: Values, row: number) =>
    `<row r="${row}">${values.map((value, place) => cell(value, place, row)).join('')}</row>`;
  function* strings() {
    yield '<sst>';
    for (const text of texts.keys())
      yield `<si><t>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</t></si>`;
    yield '</sst>';
  }
  const relation = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  const zip = new Zip(stream);
  await zip.add('xl/workbook.xml', [
    `<workbook ${relation}><sheets><sheet name="1" r:id="a"/></sheets></workbook>`,
  ]);
  await zip.add('xl/_rels/workbook.xml.rels', [
    '<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/>',
    '<Relationship Id="b" Type="sharedStrings" Target="sharedStrings.xml"/></Relationships>',
  ]);
  await zip.add('xl/worksheets/sheet1.xml', sheet());
  await zip.add('xl/sharedStrings.xml', strings());
  await zip.end();
}

class Zip {
  readonly #stream: WriteStream;
  readonly #directory: Buffer[] = [];
  #offset = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  async add(name: string, texts: Iterable<string>): Promise<void> {
    const start = this.#offset;
    // Bit 3: sizes and checksum follow the content.
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt16LE(name.length, 22);
    await this.#write(Buffer.concat([Buffer.from('PK\x03\x04'), head, Buffer.from(name)]));
    const begin = this.#offset;
    const deflate = createDeflateRaw({ level: 1 });
    const writing = (async () => {
      for await (const chunk of deflate) await this.#write(chunk);
    })();
    let [crc, size] = [0, 0];
    for (const piece of pieces(texts)) {
      const bytes = Buffer.from(piece);
      crc = crc32(bytes, crc);
      size += bytes.length;
      if (!deflate.write(bytes)) await once(deflate, 'drain');
    }
    deflate.end();
    await writing;
    const sizes = Buffer.alloc(12);
    for (const [index, value] of [crc >>> 0, this.#offset - begin, size].entries()) {
      sizes.writeUInt32LE(value, index * 4);
      head.writeUInt32LE(value, 10 + index * 4);
    }
    await this.#write(Buffer.concat([Buffer.from('PK\x07\x08'), sizes]));
    const place = Buffer.alloc(14);
    place.writeUInt32LE(start, 10);
    this.#directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), head, place, Buffer.from(name)]));
  }

  async end(): Promise<void> {
    const start = this.#offset;
    for (const entry of this.#directory) await this.#write(entry);
    const end = Buffer.alloc(22);
    end.write('PK\x05\x06');
    end.writeUInt16LE(this.#directory.length, 8);
    end.writeUInt16LE(this.#directory.length, 10);
    end.writeUInt32LE(this.#offset - start, 12);
    end.writeUInt32LE(start, 16);
    await this.#write(end);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#offset += bytes.length;
    await write(this.#stream, bytes);
  }
}
