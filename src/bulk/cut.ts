/** Cuts the rows of a file into batches, always in the same places. */
import { bytesOf, type Element, OpenBatch } from '../../client/src/batches.ts';
import type { Item } from './convert.ts';
import type { Source } from './source.ts';

/** A row that is sent, or the reason why it is not. It holds no cell: short files are held as these. */
export type BatchRow =
  | { readonly number: number; readonly element: Element; readonly reason: null }
  | { readonly number: number; readonly element: null; readonly reason: string };

/** Rows in a sequence; those that are sent go in one request. */
export interface Batch {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly BatchRow[];
}

/** A batch holds at most this many rows that are not sent, so that a file of nothing else stays bounded. */
const MAX_ROWS = 1_000;

/** Takes items in their order. The cut depends on them alone, so that a later run finds the same batches. */
export class Cutter {
  readonly #source: Source;
  readonly #whole: Batch[] = [];
  #number = 1;
  #rows: BatchRow[] = [];
  #open = new OpenBatch();

  constructor(source: Source) {
    this.#source = source;
  }

  add(item: Item): void {
    const row = batchRowOf(this.#source, item);
    const full = row.element === null ? this.#rows.length === MAX_ROWS : !this.#open.takes(row.element);
    if (full) this.#close();
    this.#rows.push(row);
    if (row.element !== null) this.#open.add(row.element);
  }

  /** The batches that are whole and were not taken yet; with `isLast`, what is left as well. */
  take(isLast: boolean): Batch[] {
    if (isLast && this.#rows.length > 0) this.#close();
    return this.#whole.splice(0);
  }

  #close(): void {
    this.#whole.push({ number: this.#number, rows: this.#rows });
    this.#number += 1;
    this.#rows = [];
    this.#open = new OpenBatch();
  }
}

/** The batches of a file, read as they are taken. */
export async function* cutRows(source: Source): AsyncGenerator<Batch> {
  const cutter = new Cutter(source);
  for await (const items of source.items()) {
    for (const item of items) cutter.add(item);
    yield* cutter.take(false);
  }
  yield* cutter.take(true);
}

function batchRowOf(source: Source, { row, application, faults }: Item): BatchRow {
  const { number } = row;
  if (row.fault !== null) return { number, element: null, reason: row.fault };
  if (faults.length > 0) return { number, element: null, reason: faults.map(source.textOf).join('; ') };
  return { number, element: elementOf(application), reason: null };
}

/** What the client makes of it, without reading the JSON again: its ID number is a text or not there. */
function elementOf(application: Readonly<Record<string, unknown>>): Element {
  const { id_number } = application;
  const json = JSON.stringify(application);
  const echo = typeof id_number === 'string' ? id_number.trim().toWellFormed() : null;
  return { json, bytes: bytesOf(json), echo };
}
