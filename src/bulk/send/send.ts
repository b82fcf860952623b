/** Sends a file of applicants batch by batch, and counts what became of the rows. */
import { hash } from 'node:crypto';
import { basename } from 'node:path';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { bodyFor, type RowBatch } from './cut.ts';
import type { Journal } from './journal.ts';
import { type AnsweredLine, answerOf, type SentLine } from './journal-lines.ts';
import type { RejectedFile } from './rejected-file.ts';
import type { RemoteService } from './remote-service.ts';
import { RowReader } from './row-reader.ts';

/** The service keeps an Idempotency-Key for 24 hours. One hour is spare for retries and for clocks that differ. */
const KEY_LIVES_MS = 23 * 3_600_000;

interface SendOptions {
  /** All batches of the file, in order. */
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
  /** The file, from which rejected rows are read again. */
  readonly source: Pick<Source, 'file' | 'table'>;
  /** Rows of the whole file. */
  readonly totalRows: number;
  readonly journal: Journal;
  readonly submitBatch: RemoteService['submitBatch'];
  readonly rejected: RejectedFile;
  /** Gets the rows that may or may not be registered. */
  readonly doubtful: RejectedFile;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** When aborted, the batches under way are finished and nothing more is sent. */
  readonly stop: AbortSignal;
  /** Called after every batch. */
  readonly onProgress?: (tally: Readonly<Tally>) => void;
  readonly now?: () => Date;
}

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
  doubtful: number;
  /** Not sent, or left over by the quota. The same command sends them later. */
  notSent: number;
  /** True where the quota had no room for a row. */
  quotaReached: boolean;
}

/** A batch that is finished for this run, with its answers. */
interface SettledRows {
  readonly batch: RowBatch;
  readonly answers: readonly AnsweredLine[];
  /** The attempt without a known answer that is not sent again; else null. */
  readonly lost: SentLine | null;
}

/**
 * Sends as many rows as the quota, `stop` and the service allow. Where the client gives up, it rejects with the
 * client's error after the batches under way have ended. The journal then has all answers.
 */
export async function sendRows(options: SendOptions): Promise<Tally> {
  const { batches, source, stop, concurrency, onProgress } = options;
  const tally: Tally = {
    rows: 0,
    registered: {},
    duplicate: 0,
    invalid: 0,
    unreadable: 0,
    doubtful: 0,
    notSent: 0,
    quotaReached: false,
  };
  const failure: { error?: unknown } = {};
  const goesOn = () => !stop.aborted && !tally.quotaReached && !('error' in failure);
  const underWay: Promise<SettledRows>[] = [];
  const reader = new RowReader(source);
  const conclude = async () => {
    const settled = await underWay.shift();
    if (settled !== undefined) await count(settled, tally, reader, options);
    onProgress?.(tally);
  };
  try {
    for await (const batch of batches) {
      if (!goesOn() && batch.number > options.journal.lastBatch) break;
      const settling = settle(batch, options, tally, goesOn).catch((error): SettledRows => {
        if (!('error' in failure)) failure.error = error;
        return { batch, answers: options.journal.batch(batch.number).answers, lost: null };
      });
      underWay.push(settling);
      if (underWay.length >= concurrency) await conclude();
    }
    while (underWay.length > 0) await conclude();
    await reader.verify();
  } finally {
    // Waits for the batches under way even after a failure, because the journal must get their answers.
    await Promise.all(underWay);
    await reader.close();
  }
  if ('error' in failure) throw failure.error;
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
  const { journal, now = () => new Date() } = options;
  const record = journal.batch(batch.number);
  const settled = { batch, answers: record.answers, lost: null };
  const places = placesLeft(batch, record.answers);
  if (places.length === 0) return settled;
  const { inDoubt } = record;
  if (inDoubt !== null && isLost(inDoubt, journal, now())) return { ...settled, lost: inDoubt };
  if (!goesOn()) return settled;
  const body = bodyFor(batch, places);
  const digest = hash('sha256', body);
  if (inDoubt !== null && inDoubt.digest !== digest) throw otherBytes(journal, inDoubt);
  const sent: SentLine = inDoubt ?? {
    kind: 'sent',
    batch: batch.number,
    attempt: record.answers.length + 1,
    rows: [batch.rows[0]?.number ?? 0, batch.rows.at(-1)?.number ?? 0] as const,
    idempotencyKey: `${journal.id}-${batch.number}-${record.answers.length + 1}`,
    digest,
    sender: journal.keyDigest,
    at: now().toISOString(),
  };
  if (inDoubt === null) await journal.add(sent);
  const echoes = places.map((place) => batch.rows[place]?.echo ?? null);
  const outcomes = await options.submitBatch({ echoes, body, idempotencyKey: sent.idempotencyKey });
  const answered = answerOf(sent, outcomes, places, now());
  if (answered.left.length > 0) tally.quotaReached = true;
  journal.note(answered);
  return { batch, answers: journal.batch(batch.number).answers, lost: null };
}

/** The places of the rows that remain to be sent. */
function placesLeft(batch: RowBatch, answers: readonly AnsweredLine[]): readonly number[] {
  return answers.at(-1)?.left ?? batch.sent;
}

/**
 * True where sending again could register somebody twice: the service has forgotten the key, or the API key is
 * another.
 */
function isLost(sent: SentLine, journal: Journal, now: Date): boolean {
  return sent.sender !== journal.keyDigest || now.getTime() - Date.parse(sent.at) > KEY_LIVES_MS;
}

function otherBytes({ path }: Journal, { rows: [first, last] }: SentLine): BulkError {
  return new BulkError(
    `${basename(path)}: rows ${first} to ${last} were sent by another version of this program, which writes them ` +
      'differently, and no answer came. Go on with that version, or ask the operator whether they were registered',
  );
}

async function count(
  { batch, answers, lost }: SettledRows,
  tally: Tally,
  reader: RowReader,
  { rejected, doubtful }: SendOptions,
): Promise<void> {
  const first = tally.rows;
  const reasons = new Map<number, string>();
  for (const [place, { reason }] of batch.rows.entries()) if (reason !== null) reasons.set(place, reason);
  tally.rows += batch.rows.length;
  tally.unreadable += reasons.size;
  for (const { registered, refused } of answers) {
    for (const [decision, rows] of Object.entries(registered)) {
      tally.registered[decision] = (tally.registered[decision] ?? 0) + rows;
    }
    for (const { kind, reason, places } of refused) {
      tally[kind] += places.length;
      for (const place of places) reasons.set(place, reason);
    }
  }
  const left = new Set(placesLeft(batch, answers));
  if (lost === null) tally.notSent += left.size;
  else tally.doubtful += left.size;
  for (const [place, { number }] of batch.rows.entries()) {
    const reason = reasons.get(place);
    if (reason !== undefined) await rejected.add(await reader.rowAt(first + place, number), reason);
    else if (lost !== null && left.has(place))
      await doubtful.add(await reader.rowAt(first + place, number), doubt(lost));
  }
}

function doubt({ at, idempotencyKey }: SentLine): string {
  return `sent at ${at} under the Idempotency-Key ${idempotencyKey}; the answer is not known`;
}
