/** Counts what became of the rows, and writes each row to the file that its result belongs to. */
import type { Language, Words } from '../../../../src/ground/base/language.ts';
import type { CutRow, RowBatch } from './cut.ts';
import type { AnsweredLine, SentLine } from './journal-lines.ts';
import type { ResultsFile, RowResult } from './results-file.ts';
import type { RejectedFile } from './row-files.ts';
import type { RowReader } from './row-reader.ts';

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
export interface SettledRows {
  readonly batch: RowBatch;
  readonly answers: readonly AnsweredLine[];
  /** True where its last attempt has no answer yet. */
  readonly isUnanswered: boolean;
  /** The attempt without a known answer that is not sent again; else null. */
  readonly lost: SentLine | null;
}

/** The files that get rows. */
export interface RowFiles {
  readonly rejected: RejectedFile;
  /** Gets the rows that may or may not be registered. */
  readonly inDoubt: RejectedFile;
  /** Gets a line for every row; null where the person wants none. */
  readonly results: ResultsFile | null;
  /** The language of the reasons. */
  readonly language: Language;
}

const NOT_SENT: RowResult = { outcome: 'not_sent', reason: '' };
const UNANSWERED: Words = {
  en: 'sent, and no result came: run the same command again',
  es: 'enviada, y no llegó el resultado: ejecuta de nuevo el mismo comando',
};

/** Counts the rows of a batch. Batches must come in the order of the file. */
export async function countRows(
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
export async function writeUnreached(rows: readonly CutRow[], results: ResultsFile): Promise<void> {
  for (const row of rows) await results.add(row, row.reason === null ? NOT_SENT : unreadable(row.reason));
}

/** The results by place; without those of rows that are still to be sent. */
function resultsOf({ batch, answers, lost }: SettledRows, language: Language): RowResult[] {
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
export function placesLeft(batch: RowBatch, answers: readonly AnsweredLine[]): readonly number[] {
  return answers.at(-1)?.left ?? batch.sent;
}

function unreadable(reason: string): RowResult {
  return { outcome: 'unreadable', reason };
}

function doubt({ at, idempotencyKey }: SentLine): Words {
  return {
    en: `sent at ${at} under the Idempotency-Key ${idempotencyKey}; the answer is not known`,
    es: `enviada a las ${at} con la Idempotency-Key ${idempotencyKey}; no se conoce la respuesta`,
  };
}
