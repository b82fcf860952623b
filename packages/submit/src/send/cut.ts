/** Cuts the rows of a file into batches, always in the same places. */
import { OpenBatch, type Weighed } from '../../../../client/src/batches.ts';
import { echoOfText } from '../../../../client/src/pairing.ts';
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import type { ConvertedRow } from '../map/convert.ts';
import type { Source } from '../map/source.ts';
import type { FileWords } from '../read/file-words.ts';
import { refuseChanged } from '../read/inspect.ts';

type ConvertedFields = ConvertedRow['application'];

/** A row of a row batch. It holds no cell, because many rows may be in memory at once. */
export interface CutRow {
  readonly number: number;
  /** The reason why the row is not sent; null for a row that is sent. */
  readonly reason: string | null;
  /** The ID number as the service echoes it; null where it cannot be read. */
  readonly echo: string | null;
}

/** Consecutive rows of the file. One request carries those that are sent. */
export interface RowBatch {
  /** From 1. */
  readonly number: number;
  readonly rows: readonly CutRow[];
  /** The places of the sent rows, from 0. */
  readonly sent: readonly number[];
  /** The JSON array of all sent rows. */
  readonly applications: Uint8Array<ArrayBuffer>;
}

/** The most rows of a batch, which bounds a file whose rows are all refused. */
const MAX_ROWS = 1_000;
/** The most bytes of JSON that one character of a text takes. */
const BYTES_PER_CHARACTER = 6;
/** The most bytes that names, numbers and punctuation of an application take. */
const BYTES_AROUND = 1_000;
/** A hundred applications of this size fit into a body, so a lighter application is not weighed exactly. */
const LIGHT_BYTES = 40_000;

/** The memory of a row, besides its part of the body. */
const HELD_BYTES_PER_ROW = 200;
/** The batches of a file are held from the check to the sending up to this size. A larger file is read again. */
const MAX_HELD_BYTES = 48 * 1024 * 1024;

/** The names are equally long, so a batch takes the same bytes in both languages. */
const ROOT: Words = { en: 'applications', es: 'aplicaciones' };
const TOO_LARGE: FileWords = {
  en: 'it is too large for a request',
  es: 'es demasiado grande para una solicitud al servicio',
  pt: 'é grande demais para uma solicitação ao serviço',
};

const encoder = new TextEncoder();
const EMPTY = new OpenBatch();

interface Pending extends Weighed {
  readonly application: ConvertedFields;
}

/**
 * Cuts rows, in their order, into batches. The cut depends on the rows alone, so a later run finds the same batches.
 */
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
    const { language } = this.#source;
    const fits = EMPTY.takes(pending) ? null : TOO_LARGE[language];
    const reason = row.fault?.[language] ?? reasonOf(faults, this.#source) ?? fits;
    const isFull = reason === null ? !this.#open.takes(pending) : this.#rows.length >= MAX_ROWS;
    if (isFull) this.#close();
    if (reason === null) {
      this.#open.add(pending);
      this.#sent.push(this.#rows.length);
    }
    this.#rows.push({ number: row.number, reason, echo: pending.echo });
  }

  /** Bytes of the closed batches that were not taken yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The closed batches that were not taken yet. With `isLast` it closes the last batch first. */
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
      applications: arrayOf(this.#open.elements.map(({ application }) => application)),
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

/** Copies the ID numbers: V8 keeps the whole piece of the file in memory for each text that is cut out of the piece. */
function copied(rows: readonly CutRow[]): CutRow[] {
  const echoes: CutRow['echo'][] = JSON.parse(JSON.stringify(rows.map(({ echo }) => echo)));
  return rows.map(({ number, reason }, place) => ({ number, reason, echo: echoes[place] ?? null }));
}

function sizeOf({ rows, applications }: RowBatch): number {
  return rows.reduce(
    (sum, { reason }) => sum + HELD_BYTES_PER_ROW + (reason?.length ?? 0),
    applications.length,
  );
}

/** Cuts the batches of a small file while its rows are checked, and holds them. */
export class HeldBatches {
  readonly #maxBytes: number;
  #cutter: Cutter | null;

  constructor(source: Source, maxBytes = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
    // The bodies are rarely smaller than the file, because they repeat the fields' names.
    this.#cutter = source.file.bytes.size > maxBytes ? null : new Cutter(source);
  }

  add(row: ConvertedRow): void {
    this.#cutter?.add(row);
    if (this.#cutter !== null && this.#cutter.heldBytes > this.#maxBytes) this.#cutter = null;
  }

  /** All batches; null where they are too large to hold. */
  end(): RowBatch[] | null {
    return this.#cutter?.take(true) ?? null;
  }
}

/** The batches of a file, read as they are taken. Throws `BulkError` where the file changed after the check. */
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

/**
 * The body of a request for some of the sent rows, by their places in the batch, which ascend. The service answers in
 * the language of the root's name (D24).
 */
export function bodyFor(
  { sent, applications }: RowBatch,
  places: readonly number[],
  language: Language,
): Uint8Array<ArrayBuffer> {
  const array = places.length === sent.length ? applications : arrayOf(chosen());
  const [head, tail] = [encoder.encode(`{"${ROOT[language]}":`), encoder.encode('}')];
  const body = new Uint8Array(head.length + array.length + tail.length);
  body.set(head);
  body.set(array, head.length);
  body.set(tail, head.length + array.length);
  return body;

  function chosen(): ConvertedFields[] {
    const wanted = new Set(places);
    const all = JSON.parse(new TextDecoder().decode(applications)) as ConvertedFields[];
    return all.filter((_, index) => wanted.has(sent[index] ?? -1));
  }
}

function arrayOf(applications: readonly ConvertedFields[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(applications));
}

/**
 * Weighs an application as the client does, but mostly without serialising it. An ID number is a text here, or has no
 * echo.
 */
function weigh(application: ConvertedFields): Pending {
  let bytes = BYTES_AROUND;
  for (const name in application) {
    const value = application[name];
    if (typeof value === 'string') bytes += BYTES_PER_CHARACTER * value.length;
    else if (typeof value === 'object') bytes = Number.POSITIVE_INFINITY;
  }
  if (bytes > LIGHT_BYTES) bytes = encoder.encode(JSON.stringify(application)).length;
  const { id_number } = application;
  const echo = typeof id_number === 'string' ? echoOfText(id_number) : null;
  return { application, bytes, echo };
}
