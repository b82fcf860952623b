/** Cuts the rows of a file into batches, always in the same places. */
import { OpenBatch, type Weighed } from '../../client/src/batches.ts';
import type { Item } from './convert.ts';
import type { Source } from './source.ts';

type Application = Item['application'];

/** A row of a batch. It holds no cell: the batches of a short file are held from the check on. */
export interface BatchRow {
  readonly number: number;
  /** Why it is not sent; null where it is. */
  readonly reason: string | null;
  /** What the service echoes of it. */
  readonly echo: string | null;
}

/** Rows in a sequence; those that are sent go in one request. */
export interface Batch {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly BatchRow[];
  /** The request's, of all the rows that are sent. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A batch holds at most this many rows that are not sent, so that a file of nothing else stays bounded. */
const MAX_ROWS = 1_000;
/** A character of a text is at most so many bytes of JSON. */
const BYTES_PER_CHARACTER = 6;
/** Of the names, the numbers and what stands between them. */
const BYTES_AROUND = 1_000;
/** A hundred times this is within a body, so what is lighter is not weighed exactly. */
const LIGHT_BYTES = 40_000;

const encoder = new TextEncoder();

/** Takes items in their order. The cut depends on them alone, so that a later run finds the same batches. */
export class Cutter {
  readonly #source: Source;
  readonly #whole: Batch[] = [];
  #number = 1;
  #rows: BatchRow[] = [];
  #applications: Application[] = [];
  #open = new OpenBatch();

  constructor(source: Source) {
    this.#source = source;
  }

  add({ row, application, faults }: Item): void {
    const { number } = row;
    const reason = row.fault ?? (faults.length === 0 ? null : faults.map(this.#source.textOf).join('; '));
    if (reason !== null) {
      if (this.#rows.length === MAX_ROWS) this.#close();
      this.#rows.push({ number, reason, echo: null });
      return;
    }
    const weighed = weigh(application);
    if (!this.#open.takes(weighed)) this.#close();
    this.#open.add(weighed);
    this.#applications.push(application);
    this.#rows.push({ number, reason, echo: weighed.echo });
  }

  /** The batches that are whole and were not taken yet; with `isLast`, what is left as well. */
  take(isLast: boolean): Batch[] {
    if (isLast && this.#rows.length > 0) this.#close();
    return this.#whole.splice(0);
  }

  #close(): void {
    this.#whole.push({ number: this.#number, rows: this.#rows, body: bodyOf(this.#applications) });
    this.#number += 1;
    this.#rows = [];
    this.#applications = [];
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

/** The body with the applications at some places alone, counted among those that are sent. */
export function bodyWith(body: Uint8Array, places: readonly number[]): Uint8Array<ArrayBuffer> {
  const { applications } = JSON.parse(new TextDecoder().decode(body)) as { applications: Application[] };
  return bodyOf(places.map((place) => applications[place] as Application));
}

function bodyOf(applications: readonly Application[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify({ applications }));
}

/** What the client would make of it, without making JSON of each: its ID number is a text, a number or no echo. */
function weigh(application: Application): Weighed {
  let bytes = BYTES_AROUND;
  for (const name in application) {
    const value = application[name];
    if (typeof value === 'string') bytes += BYTES_PER_CHARACTER * value.length;
    else if (typeof value === 'object') bytes = Number.POSITIVE_INFINITY;
  }
  if (bytes > LIGHT_BYTES) bytes = encoder.encode(JSON.stringify(application)).length;
  const { id_number } = application;
  return { bytes, echo: typeof id_number === 'string' ? id_number.trim().toWellFormed() : null };
}
