/** Sends a file of applicants batch by batch, and counts what became of the rows. */

import { hash } from 'node:crypto';
import { basename } from 'node:path';
import type { Clock } from '../../../../src/ground/base/clock.ts';
import { HOUR_MS } from '../../../../src/ground/base/time.ts';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { bodyFor, type RowBatch } from './cut.ts';
import type { Journal } from './journal.ts';
import { answerOf, type SentLine } from './journal-lines.ts';
import type { RemoteService } from './remote-service.ts';
import { RowReader } from './row-reader.ts';
import {
  countRows,
  placesLeft,
  type RowFiles,
  type SettledRows,
  type Tally,
  writeUnreached,
} from './tally.ts';

/** The service keeps an Idempotency-Key for 24 hours. One hour is spare for retries and for clocks that differ. */
const KEY_LIVES_MS = 23 * HOUR_MS;

interface SendOptions {
  /** All batches of the file, in order. */
  readonly batches: Iterable<RowBatch> | AsyncIterable<RowBatch>;
  /** The file, from which rejected rows are read again. */
  readonly source: Pick<Source, 'file' | 'table'>;
  /** Rows of the whole file. */
  readonly totalRows: number;
  readonly journal: Journal;
  readonly submitBatch: RemoteService['submitBatch'];
  readonly files: RowFiles;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** When aborted, the batches under way are finished and nothing more is sent. */
  readonly stop: AbortSignal;
  /** Called after every batch. */
  readonly onProgress?: (tally: Readonly<Tally>) => void;
  readonly clock: Clock;
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
  const { journal, clock, files } = options;
  const now = () => new Date(clock.nowMs());
  const record = journal.batch(batch.number);
  const settled = settledNow(batch, journal);
  const places = placesLeft(batch, record.answers);
  if (places.length === 0) return settled;
  const { inDoubt } = record;
  if (inDoubt !== null && isLost(inDoubt, journal, now())) return { ...settled, lost: inDoubt };
  if (!goesOn()) return settled;
  // A batch in doubt is sent again as it was, whatever language the person reads now.
  const language = inDoubt?.language ?? files.language;
  const body = bodyFor(batch, places, language);
  const digest = hash('sha256', body);
  if (inDoubt !== null && inDoubt.digest !== digest) throw otherBytes(journal, inDoubt);
  const sent: SentLine = inDoubt ?? {
    kind: 'sent',
    batch: batch.number,
    attempt: record.answers.length + 1,
    rows: [batch.rows[0]?.number ?? 0, batch.rows.at(-1)?.number ?? 0] as const,
    idempotencyKey: `${journal.id}-${batch.number}-${record.answers.length + 1}`,
    digest,
    language,
    sender: journal.keyDigest,
    at: now().toISOString(),
  };
  if (inDoubt === null) await journal.add(sent);
  const echoes = places.map((place) => batch.rows[place]?.echo ?? null);
  const outcomes = await options.submitBatch({ echoes, body, idempotencyKey: sent.idempotencyKey });
  const answered = answerOf(sent, outcomes, places, now());
  if (answered.left.length > 0) tally.quotaReached = true;
  journal.note(answered);
  return settledNow(batch, journal);
}

/** What the journal knows of a batch. */
function settledNow(batch: RowBatch, journal: Journal): SettledRows {
  const { answers, inDoubt } = journal.batch(batch.number);
  return { batch, answers, isUnanswered: inDoubt !== null, lost: null };
}

/**
 * True where sending again could register somebody twice: the service has forgotten the key, or the API key is
 * another.
 */
function isLost(sent: SentLine, journal: Journal, now: Date): boolean {
  return sent.sender !== journal.keyDigest || now.getTime() - Date.parse(sent.at) > KEY_LIVES_MS;
}

function otherBytes({ path }: Journal, { rows: [first, last] }: SentLine): BulkError {
  return new BulkError({
    en: `${basename(path)}: rows ${first} to ${last} were sent by another version of this program, which writes them differently, and no answer came. Go on with that version, or ask the operator whether they were registered`,
    es: `${basename(path)}: las filas ${first} a ${last} las envió otra versión de este programa, que las escribe distinto, y no llegó respuesta. Sigue con esa versión, o pregunta al operador si quedaron registradas`,
  });
}
