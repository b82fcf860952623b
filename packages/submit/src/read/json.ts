/** Reads JSON Lines, and JSON with an array of applicants. The columns are the names of the members of all objects. */

import type { Words } from '../../../../src/ground/base/language.ts';
import { bulkErrorAt } from './bulk-error.ts';
import { type Inspected, textOf } from './inspect.ts';
import { JsonElements, JsonFault, parseJson, tooLong } from './json-elements.ts';
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
export const NO_APPLICANTS: Words = { en: 'it holds no applicants', es: 'no tiene solicitantes' };
const NOT_AN_OBJECT: Words = { en: 'application must be an object', es: 'la solicitud debe ser un objeto' };
const TOO_MANY_NAMES: Words = {
  en: `more than ${MAX_COLUMNS} different names`,
  es: `más de ${MAX_COLUMNS} nombres distintos`,
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
    throw error instanceof JsonFault ? bulkErrorAt(file.file, number + 1, null, error.words) : error;
  }
}

async function* elementsOfLines(file: Inspected): AsyncGenerator<readonly JsonRow[]> {
  let number = 0;
  for await (const lines of linesOf(file)) {
    const elements: JsonRow[] = [];
    for (const line of lines) {
      number += 1;
      if (line.length === 0 || /^\s*$/.test(line.toString())) continue;
      elements.push({ number, value: parseLine(file, number, line) });
    }
    yield elements;
  }
}

function parseLine(file: Inspected, number: number, line: Buffer): unknown {
  try {
    return parseJson(line);
  } catch {
    throw bulkErrorAt(file.file, number, null, {
      en: 'it is not valid JSON: each line must hold one object',
      es: 'no es JSON válido: cada línea debe tener un objeto',
    });
  }
}

async function* linesOf(file: Inspected): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const chunk of textOf(file)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    yield lines;
    count += lines.length;
    rest = bytes.subarray(start);
    if (rest.length > MAX_ROW_SIZE) {
      throw bulkErrorAt(file.file, count + 1, null, tooLong(MAX_ROW_SIZE));
    }
  }
  if (rest.length > 0) yield [rest];
}

function isObject(element: unknown): element is object {
  return typeof element === 'object' && element !== null && !Array.isArray(element);
}
