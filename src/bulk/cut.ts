/** Cuts the rows of a file into batches, always in the same places. */
import { type Element, elementOf, OpenBatch } from '../../client/src/batches.ts';
import type { Application } from '../../client/src/index.ts';
import type { Item } from './convert.ts';
import type { Source } from './source.ts';
import type { Row } from './table.ts';

/** A row that is sent, or the reason why it is not. */
export type BatchRow =
  | { readonly row: Row; readonly element: Element; readonly reason: null }
  | { readonly row: Row; readonly element: null; readonly reason: string };

/** Rows in a sequence; those that are sent go in one request. */
export interface Batch {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly BatchRow[];
}

/** A batch holds at most this many rows that are not sent, so that a file of nothing else stays bounded. */
const MAX_ROWS = 1_000;

/** The cut depends on the file and the source's settings alone, so that a later run finds the same batches. */
export async function* cutRows(source: Source): AsyncGenerator<Batch> {
  let number = 1;
  let rows: BatchRow[] = [];
  let open = new OpenBatch();
  for await (const items of source.items()) {
    for (const item of items) {
      const one = batchRowOf(source, item);
      const full = one.element === null ? rows.length === MAX_ROWS : !open.takes(one.element);
      if (full) {
        yield { number, rows };
        number += 1;
        rows = [];
        open = new OpenBatch();
      }
      rows.push(one);
      if (one.element !== null) open.add(one.element);
    }
  }
  if (rows.length > 0) yield { number, rows };
}

function batchRowOf(source: Source, { row, application, faults }: Item): BatchRow {
  if (row.fault !== null) return { row, element: null, reason: row.fault };
  if (faults.length > 0) return { row, element: null, reason: faults.map(source.textOf).join('; ') };
  return { row, element: elementFor(application), reason: null };
}

/** What the client makes of it, without reading the JSON again: its ID number is a text or not there. */
function elementFor(application: Readonly<Record<string, unknown>>): Element {
  const { id_number } = application;
  const echo = typeof id_number === 'string' ? id_number.trim().toWellFormed() : null;
  return elementOf(application as unknown as Application, JSON.stringify(application), echo);
}
