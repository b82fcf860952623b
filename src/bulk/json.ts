/** JSON Lines, and JSON with an array of applicants. The columns are the names of all the objects' members. */
import { type Inspected, textOf } from './inspect.ts';
import { JsonElements, JsonFault, parseJson } from './json-elements.ts';
import { at } from './problem.ts';
import { type Cell, isBlank, MAX_COLUMNS, MAX_ROW_BYTES, type Row, type Table } from './table.ts';

type Elements = AsyncIterable<readonly [number: number, element: unknown]>;

/** Reads the whole file once for the names. Throws `BulkError`. */
export async function openJson(file: Inspected): Promise<Table> {
  const elements = () => (file.format === 'JSON' ? elementsOfArray(file) : elementsOfLines(file));
  const places = new Map<string, number>();
  for await (const [number, element] of elements()) {
    if (!isObject(element)) continue;
    for (const name of Object.keys(element)) if (!places.has(name)) places.set(name, places.size);
    if (places.size > MAX_COLUMNS)
      throw at(file.file, number, null, `more than ${MAX_COLUMNS} different names`);
  }
  return { columns: [...places.keys()], notes: [], rows: () => rowsOf(elements(), places) };
}

async function* rowsOf(elements: Elements, places: ReadonlyMap<string, number>): AsyncGenerator<Row> {
  for await (const [number, element] of elements) {
    if (!isObject(element)) {
      yield { number, cells: [], fault: 'application must be an object' };
      continue;
    }
    const cells: Cell[] = new Array(places.size).fill(null);
    for (const [name, value] of Object.entries(element)) cells[places.get(name) as number] = value as Cell;
    if (!isBlank(cells)) yield { number, cells, fault: null };
  }
}

async function* elementsOfArray(file: Inspected): Elements & AsyncGenerator {
  const cutter = new JsonElements(MAX_ROW_BYTES);
  let number = 0;
  try {
    for await (const chunk of textOf(file)) {
      for (const bytes of cutter.add(chunk)) {
        const element = parseJson(bytes);
        number += 1;
        yield [number, element] as const;
      }
    }
    cutter.end();
  } catch (error) {
    throw error instanceof JsonFault ? at(file.file, number + 1, null, error.message) : error;
  }
}

async function* elementsOfLines(file: Inspected): Elements & AsyncGenerator {
  let number = 0;
  for await (const line of linesOf(file)) {
    number += 1;
    if (line.length === 0 || /^\s*$/.test(line.toString())) continue;
    let element: unknown;
    try {
      element = parseJson(line);
    } catch {
      throw at(file.file, number, null, 'it is not valid JSON: each line must hold one object');
    }
    yield [number, element] as const;
  }
}

async function* linesOf(file: Inspected): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let lines = 0;
  for await (const chunk of textOf(file)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      yield bytes.subarray(start, end);
      lines += 1;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_ROW_BYTES) {
      throw at(file.file, lines + 1, null, `it is longer than ${MAX_ROW_BYTES} bytes`);
    }
  }
  if (rest.length > 0) yield rest;
}

function isObject(element: unknown): element is object {
  return typeof element === 'object' && element !== null && !Array.isArray(element);
}
