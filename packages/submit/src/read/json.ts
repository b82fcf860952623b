/** Reads JSON Lines, and JSON with an array of applicants. The columns are the names of the members of all objects. */

import { bulkErrorAt, Fault } from './bulk-error.ts';
import { joined, NO_BYTES, textOfUtf8 } from './bytes.ts';
import type { FileWords } from './file-words.ts';
import { type Inspected, textOf } from './inspect.ts';
import {
  type Cell,
  type FileRow,
  isBlank,
  MAX_COLUMNS,
  MAX_ROW_SIZE,
  NO_SHEETS,
  type Table,
} from './table.ts';

/** Said of a file without a row. */
export const NO_APPLICANTS: FileWords = {
  en: 'it holds no applicants',
  es: 'no tiene solicitantes',
  pt: 'não tem solicitantes',
};
const NOT_AN_OBJECT: FileWords = {
  en: 'application must be an object',
  es: 'la solicitud debe ser un objeto',
  pt: 'a solicitação deve ser um objeto',
};
const TOO_MANY_NAMES: FileWords = {
  en: `more than ${MAX_COLUMNS} different names`,
  es: `más de ${MAX_COLUMNS} nombres distintos`,
  pt: `mais de ${MAX_COLUMNS} nomes diferentes`,
};

interface JsonRow {
  readonly number: number;
  readonly value: unknown;
}

/** Reads the whole file once for the names. Throws `BulkError`. */
export async function openJson(file: Inspected): Promise<Table> {
  const pieces = () => (file.format === 'JSON' ? elementsOfArray(file) : elementsOfLines(file));
  const columnOf = new Map<string, number>();
  let hasElements = false;
  for await (const elements of pieces()) {
    for (const { number, value } of elements) {
      hasElements = true;
      if (!isObject(value)) continue;
      for (const name of Object.keys(value)) if (!columnOf.has(name)) columnOf.set(name, columnOf.size);
      if (columnOf.size > MAX_COLUMNS) throw bulkErrorAt(file.file, number, null, TOO_MANY_NAMES);
    }
  }
  if (!hasElements) throw bulkErrorAt(file.file, null, null, NO_APPLICANTS);
  const columns = [...columnOf.keys()];
  return { columns, headerRow: null, ...NO_SHEETS, notes: [], rows: () => rowsOf(pieces(), columnOf) };
}

async function* rowsOf(
  pieces: AsyncIterable<readonly JsonRow[]>,
  columnOf: ReadonlyMap<string, number>,
): AsyncGenerator<readonly FileRow[]> {
  for await (const elements of pieces) {
    const rows: FileRow[] = [];
    for (const element of elements) {
      const row = rowOf(element, columnOf);
      if (row.fault !== null || !isBlank(row.cells)) rows.push(row);
    }
    yield rows;
  }
}

function rowOf({ number, value }: JsonRow, columnOf: ReadonlyMap<string, number>): FileRow {
  if (!isObject(value)) return { number, cells: [], fault: NOT_AN_OBJECT };
  const cells: Cell[] = new Array(columnOf.size).fill(null);
  for (const [name, cell] of Object.entries(value)) {
    const column = columnOf.get(name);
    if (column !== undefined) cells[column] = cell;
  }
  return { number, cells, fault: null };
}

async function* elementsOfArray(file: Inspected): AsyncGenerator<readonly JsonRow[]> {
  const cutter = new JsonElements(MAX_ROW_SIZE);
  let number = 0;
  try {
    for await (const chunk of textOf(file)) {
      const elements: JsonRow[] = [];
      for (const bytes of cutter.add(chunk)) {
        const value = parseJson(bytes);
        number += 1;
        elements.push({ number, value });
      }
      yield elements;
    }
    cutter.end();
  } catch (error) {
    throw error instanceof Fault ? bulkErrorAt(file.file, number + 1, null, error.words) : error;
  }
}

async function* elementsOfLines(file: Inspected): AsyncGenerator<readonly JsonRow[]> {
  let number = 0;
  for await (const lines of linesOf(file)) {
    const elements: JsonRow[] = [];
    for (const line of lines) {
      number += 1;
      if (!/^\s*$/.test(line)) elements.push({ number, value: parseLine(file, number, line) });
    }
    yield elements;
  }
}

function parseLine(file: Inspected, number: number, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw bulkErrorAt(file.file, number, null, {
      en: 'it is not valid JSON: each line must hold one object',
      es: 'no es JSON válido: cada línea debe tener un objeto',
      pt: 'não é JSON válido: cada linha deve ter um objeto',
    });
  }
}

/** The lines of each piece of the file, which are decoded together. */
async function* linesOf(file: Inspected): AsyncGenerator<readonly string[]> {
  let rest: Uint8Array = NO_BYTES;
  let count = 0;
  for await (const chunk of textOf(file)) {
    const bytes = rest.length === 0 ? chunk : joined([rest, chunk]);
    const end = bytes.lastIndexOf(LINE_END);
    const lines = end < 0 ? [] : textOfUtf8(bytes.subarray(0, end)).split('\n');
    yield lines;
    count += lines.length;
    rest = bytes.subarray(end + 1);
    if (rest.length > MAX_ROW_SIZE) {
      throw bulkErrorAt(file.file, count + 1, null, tooLong(MAX_ROW_SIZE));
    }
  }
  if (rest.length > 0) yield [textOfUtf8(rest)];
}

function isObject(element: unknown): element is object {
  return typeof element === 'object' && element !== null && !Array.isArray(element);
}

// Cuts the array of applicants out of JSON text, element by element, and holds one element at a time. Brackets and
// quotes show where an element ends; the parser checks each element.

const LINE_END = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const NO_COMMA: FileWords = { en: 'a "," is missing', es: 'falta una ","', pt: 'falta uma ","' };

type JsonPlace =
  | 'root'
  | 'key'
  | 'colon'
  | 'value'
  | 'after_value'
  | 'first_element'
  | 'element'
  | 'after_element'
  | 'end';

const ROOT_NAMES = ['applications', 'aplicaciones'];

/** Takes UTF-8 in pieces and yields the bytes of each whole element. */
class JsonElements {
  readonly #maxBytes: number;
  #place: JsonPlace = 'root';
  /** False where the root itself is the array. */
  #inObject = false;
  #name = '';
  #found = false;
  /** State of the value under way: its bytes so far, its depth, and whether the reading is inside a text. */
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inValue = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws `Fault`. */
  *add(chunk: Uint8Array): Generator<Uint8Array> {
    let index = 0;
    while (index < chunk.length) {
      if (this.#inValue) {
        const end = this.#endOfValue(chunk, index);
        this.#keep(chunk.subarray(index, end));
        index = end;
        if (!this.#inValue) yield* this.#finish();
        continue;
      }
      const byte = chunk[index]!;
      if (byte > 0x20) index = this.#step(byte, index);
      else index += 1;
    }
  }

  /** Throws `Fault` unless the text is whole and had the array. */
  end(): void {
    if (this.#place !== 'end')
      throw new Fault({
        en: 'it ends in the middle: it was cut off',
        es: 'termina a la mitad: está incompleto',
        pt: 'termina no meio: está incompleto',
      });
    if (!this.#found) {
      throw new Fault({
        en: 'it has no array "applications" or "aplicaciones"',
        es: 'no tiene un arreglo "aplicaciones" o "applications"',
        pt: 'não tem um array "applications" ou "aplicaciones"',
      });
    }
  }

  /** Checks a byte between values and moves to the next place. Returns the index to go on from. */
  #step(byte: number, index: number): number {
    switch (this.#place) {
      case 'root':
        if (byte === OPEN_ARRAY) return this.#openArray(index);
        if (byte !== OPEN_OBJECT) {
          throw new Fault({
            en: 'it is neither an array nor an object',
            es: 'no es ni un arreglo ni un objeto',
            pt: 'não é nem um array nem um objeto',
          });
        }
        this.#inObject = true;
        return this.#next('key', index);
      case 'key':
        if (byte === CLOSE_OBJECT) return this.#next('end', index);
        if (byte !== QUOTE) {
          throw new Fault({
            en: 'a name in quotes is missing',
            es: 'falta un nombre entre comillas',
            pt: 'falta um nome entre aspas',
          });
        }
        return this.#begin(index);
      case 'colon':
        if (byte !== COLON) throw new Fault({ en: 'a ":" is missing', es: 'falta ":"', pt: 'falta ":"' });
        return this.#next('value', index);
      case 'value':
        if (byte === OPEN_ARRAY && ROOT_NAMES.includes(this.#name)) return this.#openArray(index);
        return this.#begin(index);
      case 'after_value':
        if (byte === COMMA) return this.#next('key', index);
        if (byte === CLOSE_OBJECT) return this.#next('end', index);
        throw new Fault(NO_COMMA);
      case 'first_element':
        return byte === CLOSE_ARRAY ? this.#closeArray(index) : this.#begin(index);
      case 'element':
        return this.#begin(index);
      case 'after_element':
        // Other bytes come only where the next value begins without a comma.
        if (byte === COMMA) return this.#next('element', index);
        if (byte === CLOSE_ARRAY) return this.#closeArray(index);
        throw new Fault(NO_COMMA);
      case 'end':
        throw new Fault({
          en: 'something follows after its end',
          es: 'hay algo después de su final',
          pt: 'há algo depois do fim',
        });
    }
  }

  #next(place: JsonPlace, index: number): number {
    this.#place = place;
    return index + 1;
  }

  #begin(index: number): number {
    this.#inValue = true;
    return index;
  }

  #openArray(index: number): number {
    if (this.#found) {
      throw new Fault({
        en: 'it has both "applications" and "aplicaciones": keep one',
        es: 'tiene "applications" y "aplicaciones": deja uno',
        pt: 'tem "applications" e "aplicaciones": deixe um',
      });
    }
    this.#found = true;
    return this.#next('first_element', index);
  }

  #closeArray(index: number): number {
    return this.#next(this.#inObject ? 'after_value' : 'end', index);
  }

  /** The end of the value in the chunk. Sets `#inValue` to false where the value ends. */
  #endOfValue(chunk: Uint8Array, start: number): number {
    const isKey = this.#place === 'key';
    // Fields of the object would cost a quarter of the time of the whole reading.
    let [depth, inText, escaped] = [this.#depth, this.#inText, this.#escaped];
    let isWhole = false;
    let index = start;
    for (; index < chunk.length && !isWhole; index += 1) {
      const byte = chunk[index]!;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inText = false;
          isWhole = depth === 0 && isKey;
        }
      } else if (byte === QUOTE) inText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (depth === 0) return this.#ended(index);
        depth -= 1;
      } else if (byte === COMMA && depth === 0) return this.#ended(index);
    }
    [this.#depth, this.#inText, this.#escaped] = [depth, inText, escaped];
    return isWhole ? this.#ended(index) : index;
  }

  #ended(index: number): number {
    [this.#depth, this.#inText, this.#escaped] = [0, false, false];
    this.#inValue = false;
    return index;
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) throw new Fault(tooLong(this.#maxBytes));
    this.#parts.push(bytes);
  }

  *#finish(): Generator<Uint8Array> {
    const [first, ...others] = this.#parts;
    const value = first !== undefined && others.length === 0 ? first : joined(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (this.#place === 'key') {
      this.#name = String(parseJson(value));
      this.#place = 'colon';
    } else if (this.#place === 'value') {
      parseJson(value);
      this.#place = 'after_value';
    } else {
      this.#place = 'after_element';
      yield value;
    }
  }
}

/** Says that a row or an element has more than `maxBytes`. */
function tooLong(maxBytes: number): FileWords {
  return {
    en: `it is longer than ${maxBytes} bytes`,
    es: `tiene más de ${maxBytes} bytes`,
    pt: `tem mais de ${maxBytes} bytes`,
  };
}

/** Throws `Fault`, because the parser's own error would quote the text. */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOfUtf8(bytes));
  } catch {
    throw new Fault({ en: 'it is not valid JSON', es: 'no es JSON válido', pt: 'não é JSON válido' });
  }
}
