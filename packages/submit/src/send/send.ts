/** Sends a file of applicants batch by batch, and counts what became of the rows. */
import type { Clock } from '../../../../src/ground/base/clock.ts';
import type { Language } from '../../../../src/ground/base/language.ts';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { hexOf } from '../read/bytes.ts';
import type { FileLanguage, FileWords } from '../read/file-words.ts';
import type { Inspected } from '../read/inspect.ts';
import type { FileRow } from '../read/table.ts';
import { bodyFor, type CutRow, type RowBatch } from './cut.ts';
import { type AnsweredLine, answerOf, HOUR_MS, type Records, type SentLine } from './records.ts';
import type { RemoteService } from './remote-service.ts';
import type { RejectedFile, ResultsFile, RowResult } from './row-files.ts';

/** The service keeps an Idempotency-Key for 24 hours. One hour is spare for retries and for clocks that differ. */
const KEY_LIVES_MS = 23 * HOUR_MS;

interface SendOptions {
  /** All batches of the file, in order. */
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
  /** The file, from which rejected rows are read again. */
  readonly source: Pick<Source, 'file' | 'table'>;
  /** Rows of the whole file. */
  readonly totalRows: number;
  readonly journal: Records;
  readonly submitBatch: RemoteService['submitBatch'];
  readonly files: RowFiles;
  /** The language that new batches ask the answer in. */
  readonly asksIn: Language;
  /**
   * Whether the answer to a batch was that of an earlier sending, which the records do not have: what the quota left
   * over of it goes on at once. Absent: the records have every answer.
   */
  readonly isReplay?: (idempotencyKey: string) => boolean;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** When aborted, the batches under way are finished and nothing more is sent. */
  readonly stop: AbortSignal;
  /** Called after every batch. */
  readonly onProgress?: (tally: Readonly<Tally>) => void;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Sends as many rows as the quota, `stop` and the service allow. Where the client gives up, it rejects with the
 * client's error after the batches under way have ended. The journal then has all answers, and the results file what is
 * known.
 */
export async function sendRows(options: SendOptions): Promise<Tally> {
  const { batches, source, stop, concurrency, onProgress, files } = options;
  const tally: Tally = {
    rows: 0,
    registered: {},
    duplicate: 0,
    invalid: 0,
    unreadable: 0,
    inDoubt: 0,
    notSent: 0,
    quotaReached: false,
  };
  const failure: { error?: unknown } = {};
  const goesOn = () => !stop.aborted && !tally.quotaReached && !('error' in failure);
  const underWay: Promise<SettledRows>[] = [];
  const reader = new RowReader(source);
  const fail = (error: unknown) => {
    if (!('error' in failure)) failure.error = error;
  };
  let isWhole = false;
  const conclude = async () => {
    const settled = await underWay.shift();
    if (settled !== undefined) await countRows(settled, tally, reader, files);
    onProgress?.(tally);
  };
  try {
    for await (const batch of batches) {
      if (!goesOn() && batch.number > options.journal.lastBatch) {
        if (files.results === null) break;
        while (underWay.length > 0) await conclude();
        await writeUnreached(batch.rows, files.results);
        continue;
      }
      const settling = settle(batch, options, tally, goesOn).catch((error): SettledRows => {
        fail(error);
        return settledNow(batch, options.journal);
      });
      underWay.push(settling);
      if (underWay.length >= concurrency) await conclude();
    }
    while (underWay.length > 0) await conclude();
    await reader.verify();
    isWhole = true;
  } catch (error) {
    fail(error);
  } finally {
    // Waits for the batches under way even after a failure, because the journal must get their answers.
    await Promise.all(underWay);
    await reader.close();
  }
  if ('error' in failure) {
    // The failure matters more than results that cannot be written.
    if (isWhole) await files.results?.finish().catch(() => {});
    throw failure.error;
  }
  tally.notSent += options.totalRows - tally.rows;
  return tally;
}

/** Sends the rows of a batch that no earlier run settled. */
async function settle(
  batch: RowBatch,
  options: SendOptions,
  tally: Tally,
  goesOn: () => boolean,
): Promise<SettledRows> {
  const { journal, clock, isReplay } = options;
  for (;;) {
    const { inDoubt, answers } = journal.batch(batch.number);
    const settled = settledNow(batch, journal);
    const places = placesLeft(batch, answers);
    if (places.length === 0) return settled;
    if (inDoubt !== null && isLost(inDoubt, journal, new Date(clock.nowMs())))
      return { ...settled, lost: inDoubt };
    if (!goesOn()) return settled;
    const { left, idempotencyKey } = await sendPlaces(batch, places, options);
    if (left > 0 && isReplay?.(idempotencyKey)) continue;
    if (left > 0) tally.quotaReached = true;
    return settledNow(batch, journal);
  }
}

/** Sends rows of a batch, and keeps the answer. Gives how many rows the quota left over. */
async function sendPlaces(
  batch: RowBatch,
  places: readonly number[],
  { journal, clock, asksIn, submitBatch }: SendOptions,
): Promise<{ left: number; idempotencyKey: string }> {
  const now = () => new Date(clock.nowMs());
  const { inDoubt, answers } = journal.batch(batch.number);
  // A batch in doubt is sent again as it was, whatever language the person reads now.
  const language = inDoubt?.language ?? asksIn;
  const body = bodyFor(batch, places, language);
  const digest = hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', body)));
  if (inDoubt !== null && inDoubt.digest !== digest) throw otherBytes(journal, inDoubt);
  const attempt = answers.length + 1;
  const sent: SentLine = inDoubt ?? {
    kind: 'sent',
    batch: batch.number,
    attempt,
    rows: [batch.rows[0]?.number ?? 0, batch.rows.at(-1)?.number ?? 0] as const,
    idempotencyKey: `${journal.id}-${batch.number}-${attempt}`,
    digest,
    language,
    sender: journal.keyDigest,
    at: now().toISOString(),
  };
  if (inDoubt === null) await journal.add(sent);
  const echoes = places.map((place) => batch.rows[place]?.echo ?? null);
  const { idempotencyKey } = sent;
  const answered = answerOf(sent, await submitBatch({ echoes, body, idempotencyKey }), places, now());
  journal.note(answered);
  return { left: answered.left.length, idempotencyKey };
}

/** What the journal knows of a batch. */
function settledNow(batch: RowBatch, journal: Records): SettledRows {
  const { answers, inDoubt } = journal.batch(batch.number);
  return { batch, answers, isUnanswered: inDoubt !== null, lost: null };
}

/**
 * True where sending again could register somebody twice: the service has forgotten the key, or the API key is
 * another.
 */
function isLost(sent: SentLine, journal: Records, now: Date): boolean {
  return sent.sender !== journal.keyDigest || now.getTime() - Date.parse(sent.at) > KEY_LIVES_MS;
}

function otherBytes({ name }: Records, { rows: [first, last] }: SentLine): BulkError {
  return new BulkError({
    en: `${name}: rows ${first} to ${last} were sent by another version of this program, which writes them differently, and no answer came. Go on with that version, or ask the operator whether they were registered`,
    es: `${name}: las filas ${first} a ${last} las envió otra versión de este programa, que las escribe distinto, y no llegó respuesta. Sigue con esa versión, o pregunta al operador si quedaron registradas`,
    pt: `${name}: as linhas ${first} a ${last} foram enviadas por outra versão deste programa, que as escreve de outra forma, e não chegou resposta. Continue com essa versão, ou pergunte ao operador se foram registradas`,
  });
}

// Counts what became of the rows, and writes each row to the file that its result belongs to.

/** Counts of rows by what became of them. */
export interface Tally {
  /** Rows that were processed. */
  rows: number;
  /** By decision. */
  readonly registered: Record<string, number>;
  duplicate: number;
  invalid: number;
  /** Refused before sending, because of a cell that has no clear meaning. */
  unreadable: number;
  /** Sent without an answer, and not sent again. The rows may be registered. */
  inDoubt: number;
  /** Not sent, or left over by the quota. The same command sends them later. */
  notSent: number;
  /** True where the quota had no room for a row. */
  quotaReached: boolean;
}

/** A batch that is finished for this run, with its answers. */
interface SettledRows {
  readonly batch: RowBatch;
  readonly answers: readonly AnsweredLine[];
  /** True where its last attempt has no answer yet. */
  readonly isUnanswered: boolean;
  /** The attempt without a known answer that is not sent again; else null. */
  readonly lost: SentLine | null;
}

/** The files that get rows. */
interface RowFiles {
  readonly rejected: Pick<RejectedFile, 'add'>;
  /** Gets the rows that may or may not be registered. */
  readonly inDoubt: Pick<RejectedFile, 'add'>;
  /** Gets a line for every row; null where the person wants none. */
  readonly results: Pick<ResultsFile, 'add' | 'finish'> | null;
  /** The language of the reasons. */
  readonly language: FileLanguage;
}

const NOT_SENT: RowResult = { outcome: 'not_sent', reason: '' };
const UNANSWERED: FileWords = {
  en: 'sent, and no result came: run the same command again',
  es: 'enviada, y no llegó el resultado: ejecuta de nuevo el mismo comando',
  pt: 'enviada, e o resultado não chegou: execute o mesmo comando de novo',
};

/** Counts the rows of a batch. Batches must come in the order of the file. */
async function countRows(
  settled: SettledRows,
  tally: Tally,
  reader: RowReader,
  files: RowFiles,
): Promise<void> {
  const first = tally.rows;
  const { rows } = settled.batch;
  const results = resultsOf(settled, files.language);
  const unanswered: RowResult = { outcome: 'not_sent', reason: UNANSWERED[files.language] };
  tally.rows += rows.length;
  for (const [place, row] of rows.entries()) {
    const result = results[place] ?? (settled.isUnanswered ? unanswered : NOT_SENT);
    countRow(tally, result);
    if (result.outcome !== 'registered' && result.outcome !== 'not_sent') {
      const file = result.outcome === 'in_doubt' ? files.inDoubt : files.rejected;
      await file.add(await reader.rowAt(first + place, row.number), result.reason);
    }
    await files.results?.add(row, result);
  }
}

/** Writes the results of rows that this run does not reach. They are not counted one by one. */
async function writeUnreached(rows: readonly CutRow[], results: Pick<ResultsFile, 'add'>): Promise<void> {
  for (const row of rows) await results.add(row, row.reason === null ? NOT_SENT : unreadable(row.reason));
}

/** The results by place; without those of rows that are still to be sent. */
function resultsOf({ batch, answers, lost }: SettledRows, language: FileLanguage): RowResult[] {
  const results: RowResult[] = [];
  for (const [place, { reason }] of batch.rows.entries()) {
    if (reason !== null) results[place] = unreadable(reason);
  }
  if (lost !== null) {
    for (const place of placesLeft(batch, answers)) {
      results[place] = { outcome: 'in_doubt', reason: doubt(lost)[language] };
    }
  }
  for (const { registered, refused } of answers) {
    for (const { decision, status, places, ids, scores } of registered) {
      for (const [index, place] of places.entries()) {
        const [id = null, score = 0] = [ids[index], scores[index]];
        results[place] = { outcome: 'registered', id, score, decision, status };
      }
    }
    for (const { kind, reason, places } of refused) {
      for (const place of places) results[place] = { outcome: kind, reason };
    }
  }
  return results;
}

function countRow(tally: Tally, result: RowResult): void {
  switch (result.outcome) {
    case 'registered':
      tally.registered[result.decision] = (tally.registered[result.decision] ?? 0) + 1;
      break;
    case 'in_doubt':
      tally.inDoubt += 1;
      break;
    case 'not_sent':
      tally.notSent += 1;
      break;
    default:
      tally[result.outcome] += 1;
  }
}

/** The places of the rows that remain to be sent. */
function placesLeft(batch: RowBatch, answers: readonly AnsweredLine[]): readonly number[] {
  return answers.at(-1)?.left ?? batch.sent;
}

function unreadable(reason: string): RowResult {
  return { outcome: 'unreadable', reason };
}

function doubt({ at, idempotencyKey }: SentLine): FileWords {
  return {
    en: `sent at ${at} under the Idempotency-Key ${idempotencyKey}; the answer is not known`,
    es: `enviada a las ${at} con la Idempotency-Key ${idempotencyKey}; no se conoce la respuesta`,
    pt: `enviada às ${at} com a Idempotency-Key ${idempotencyKey}; a resposta não é conhecida`,
  };
}

// Finds rows of a file again for the file of rejected rows. Most submissions reject few rows, so no row is kept for it.

/** Reads a source's table once more, as far as needed. */
export class RowReader {
  readonly #source: Pick<Source, 'file' | 'table'>;
  #pieces: AsyncIterator<readonly FileRow[]> | null = null;
  #piece: readonly FileRow[] = [];
  /** The place of the piece's first row. */
  #start = 0;

  constructor(source: Pick<Source, 'file' | 'table'>) {
    this.#source = source;
  }

  /**
   * The row at a place, counted from 0. Places must grow from call to call. Throws `BulkError` where the row does not
   * have the given number, because the file changed.
   */
  async rowAt(place: number, number: number): Promise<FileRow> {
    this.#pieces ??= this.#source.table.rows()[Symbol.asyncIterator]();
    while (place >= this.#start + this.#piece.length) {
      this.#start += this.#piece.length;
      const { done, value } = await this.#pieces.next();
      if (done === true) throw changed(this.#source.file);
      this.#piece = value;
    }
    const row = this.#piece[place - this.#start];
    if (row?.number !== number) throw changed(this.#source.file);
    return row;
  }

  /** Throws `BulkError` where the file changed, so that the rows read here may not be the rows sent. */
  async verify(): Promise<void> {
    if (this.#pieces !== null && !(await this.#source.file.bytes.isUnchanged()))
      throw changed(this.#source.file);
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#pieces?.return?.();
  }
}

function changed({ file }: Inspected): BulkError {
  return new BulkError({
    en: `${file}: it changed while it was sent, so the rows that were not taken cannot be written down. Restore the file and run the same command again, which writes them`,
    es: `${file}: cambió mientras se enviaba, y no se pueden anotar las filas que no se aceptaron. Restaura el archivo y ejecuta de nuevo el mismo comando, que las anota`,
    pt: `${file}: mudou durante o envio, e as linhas que não foram aceitas não podem ser anotadas. Restaure o arquivo e envie-o de novo`,
  });
}
