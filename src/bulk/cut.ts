/** Cuts the rows of a file into batches, always in the same places. */
import { type Element, OpenBatch } from '../../client/src/batches.ts';
import type { Source } from './source.ts';
import type { Row } from './table.ts';

/** A row that is sent, or the reason why it is not. */
export type Item =
  | { readonly row: Row; readonly element: Element; readonly reason: null }
  | { readonly row: Row; readonly element: null; readonly reason: string };

/** Rows in a sequence; those that are sent go in one request. */
export interface Batch {
  /** From 1. */
  readonly number: number;
  readonly items: readonly Item[];
}

/** A batch holds at most this many rows that are not sent, so that a file of nothing else stays bounded. */
const MAX_ITEMS = 1_000;

/** The cut depends on the file and the source's settings alone, so that a later run finds the same batches. */
export async function* cutRows(source: Source): AsyncGenerator<Batch> {
  const convert = source.converter();
  let number = 1;
  let items: Item[] = [];
  let open = new OpenBatch();
  for await (const row of source.table.rows()) {
    const item = itemOf(source, row, convert);
    const full = item.element === null ? items.length === MAX_ITEMS : !open.takes(item.element);
    if (full) {
      yield { number, items };
      number += 1;
      items = [];
      open = new OpenBatch();
    }
    items.push(item);
    if (item.element !== null) open.add(item.element);
  }
  if (items.length > 0) yield { number, items };
}

function itemOf(source: Source, row: Row, convert: ReturnType<Source['converter']>): Item {
  if (row.fault !== null) return { row, element: null, reason: row.fault };
  const { application, faults } = convert(row);
  if (faults.length > 0) return { row, element: null, reason: faults.map(source.textOf).join('; ') };
  return { row, element: elementOf(application), reason: null };
}

/** The client makes the same of it, and refuses a batch that this got wrong. */
function elementOf(application: Readonly<Record<string, unknown>>): Element {
  const json = JSON.stringify(application);
  const { id_number } = application;
  return {
    input: application as unknown as Element['input'],
    json,
    bytes: Buffer.byteLength(json),
    echo: typeof id_number === 'string' ? id_number.trim().toWellFormed() : null,
  };
}
