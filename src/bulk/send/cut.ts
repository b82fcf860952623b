/** Cuts the rows of a file into batches, always in the same places. */
import { OpenBatch, type Weighed } from '../../../client/src/batches.ts';
import type { ConvertedRow } from '../map/convert.ts';
import type { Source } from '../map/source.ts';
import { refuseChanged } from '../read/inspect.ts';

type ConvertedFields = ConvertedRow['application'];

/** A row of a batch. It holds no cell, for many may be held at once. */
export interface CutRow {
  readonly number: number;
  /** Why it is not sent; null where it is. */
  readonly reason: string | null;
  /** What the service echoes of it. */
  readonly echo: string | null;
}

/** Rows in a sequence; those that are sent go in one request. */
export interface RowBatch {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly CutRow[];
  /** The places of the rows that are sent, counted from 0. */
  readonly sent: readonly number[];
  /** The request's, of all the rows that are sent. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A batch of so many rows takes none more that is not sent, so that a file of nothing else stays bounded. */
const MAX_ROWS = 1_000;
/** A character of a text is at most so many bytes of JSON. */
const BYTES_PER_CHARACTER = 6;
/** Of the names, the numbers and what stands between them. */
const BYTES_AROUND = 1_000;
/** A hundred times this is within a body, so what is lighter is not weighed exactly. */
const LIGHT_BYTES = 40_000;

/** What a row takes in memory, beside its part of the body. */
const HELD_BYTES_PER_ROW = 200;
/** As much is held of a file from the check to the sending; a longer one is read again. */
const MAX_HELD_BYTES = 48 * 1024 * 1024;

const TOO_LARGE = 'it is too large for a request';

const encoder = new TextEncoder();
const EMPTY = new OpenBatch();

interface Pending extends Weighed {
  readonly application: ConvertedFields;
}

/** Takes items in their order. The cut depends on them alone, so that a later run finds the same batches. */
class Cutter {
  readonly #source: Source;
  readonly #whole: RowBatch[] = [];
  #number = 1;
  #rows: CutRow[] = [];
  #sent: number[] = [];
  #open = new OpenBatch<Pending>();
  #heldBytes = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  add({ row, application, faults }: ConvertedRow): void {
    const pending = weigh(application);
    const reason = row.fault ?? reasonOf(faults, this.#source) ?? (EMPTY.takes(pending) ? null : TOO_LARGE);
    const isFull = reason === null ? !this.#open.takes(pending) : this.#rows.length >= MAX_ROWS;
    if (isFull) this.#close();
    if (reason === null) {
      this.#open.add(pending);
      this.#sent.push(this.#rows.length);
    }
    this.#rows.push({ number: row.number, reason, echo: reason === null ? pending.echo : null });
  }

  /** What the batches take that are whole and were not taken yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The batches that are whole and were not taken yet; with `isLast`, what is left as well. */
  take(isLast: boolean): RowBatch[] {
    if (isLast && this.#rows.length > 0) this.#close();
    this.#heldBytes = 0;
    return this.#whole.splice(0);
  }

  #close(): void {
    const batch = {
      number: this.#number,
      rows: copied(this.#rows),
      sent: this.#sent,
      body: bodyOf(this.#open.elements.map(({ application }) => application)),
    };
    this.#whole.push(batch);
    this.#heldBytes += sizeOf(batch);
    this.#number += 1;
    this.#rows = [];
    this.#sent = [];
    this.#open = new OpenBatch();
  }
}

function reasonOf(faults: ConvertedRow['faults'], { textOf }: Source): string | null {
  return faults.length === 0 ? null : faults.map(textOf).join('; ');
}

/** With ID numbers of their own: as it comes from the file, a text keeps the whole piece that it was cut out of. */
function copied(rows: readonly CutRow[]): CutRow[] {
  const echoes: CutRow['echo'][] = JSON.parse(JSON.stringify(rows.map(({ echo }) => echo)));
  return rows.map(({ number, reason }, place) => ({ number, reason, echo: echoes[place] ?? null }));
}

function sizeOf({ rows, body }: RowBatch): number {
  return rows.reduce((sum, { reason }) => sum + HELD_BYTES_PER_ROW + (reason?.length ?? 0), body.length);
}

/** The batches of a file that is short, made of its items while they are checked. */
export class HeldBatches {
  readonly #maxBytes: number;
  #cutter: Cutter | null;

  constructor(source: Source, maxBytes = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
    // What is sent of a file is rarely shorter than the file: the fields' names stand beside each value.
    this.#cutter = source.file.size > maxBytes ? null : new Cutter(source);
  }

  add(row: ConvertedRow): void {
    this.#cutter?.add(row);
    if (this.#cutter !== null && this.#cutter.heldBytes > this.#maxBytes) this.#cutter = null;
  }

  /** All of them; null where they are too much to hold. */
  end(): RowBatch[] | null {
    return this.#cutter?.take(true) ?? null;
  }
}

/** The batches of a file, read as they are taken. Throws `BulkError` before one of rows that were not checked. */
export async function* cutRows(source: Source): AsyncGenerator<RowBatch> {
  const cutter = new Cutter(source);
  for await (const rows of source.convertedRows()) {
    for (const converted of rows) cutter.add(converted);
    const batches = cutter.take(false);
    if (batches.length > 0) await refuseChanged(source.file);
    yield* batches;
  }
  yield* cutter.take(true);
}

/** The body for some of the rows that are sent, by their places in the batch. */
export function bodyFor({ sent, body }: RowBatch, places: readonly number[]): Uint8Array<ArrayBuffer> {
  if (places.length === sent.length) return body;
  const { applications } = JSON.parse(new TextDecoder().decode(body)) as { applications: ConvertedFields[] };
  return bodyOf(places.map((place) => applications[sent.indexOf(place)] as ConvertedFields));
}

function bodyOf(applications: readonly ConvertedFields[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ applications }));
}

/** What the client would make of it, without making JSON of each: its ID number is a text, or it has no echo. */
function weigh(application: ConvertedFields): Pending {
  let bytes = BYTES_AROUND;
  for (const name in application) {
    const value = application[name];
    if (typeof value === 'string') bytes += BYTES_PER_CHARACTER * value.length;
    else if (typeof value === 'object') bytes = Number.POSITIVE_INFINITY;
  }
  if (bytes > LIGHT_BYTES) bytes = encoder.encode(JSON.stringify(application)).length;
  const { id_number } = application;
  const echo = typeof id_number === 'string' ? id_number.trim().toWellFormed() : null;
  return { application, bytes, echo };
}
