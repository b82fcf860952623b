/** The lines of a submission's journal: the submission, the sent batches and their answers. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { Outcome } from '../../../client/src/index.ts';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';

/** Changes with the way that rows are cut into batches or digested: the same keys would name other rows. */
const VERSION = 3;

/** The path of a file's journal. */
export function journalPath(file: string, isSandbox: boolean): string {
  return `${file}.ventanilla-journal${isSandbox ? '-dev' : ''}`;
}

/** The first line: the submission that the journal belongs to. */
export interface Header {
  readonly kind: 'submission';
  readonly version: number;
  readonly id: string;
  readonly file: { readonly size: number; readonly mtime: string; readonly sha256: string };
  readonly url: string;
  readonly settings: unknown;
}

/** A batch that was sent. `attempt` is above 1 where the quota left rows of the batch over. */
export interface SentLine {
  readonly kind: 'sent';
  readonly batch: number;
  readonly attempt: number;
  /** Numbers of the first and the last row. */
  readonly rows: readonly [number, number];
  readonly idempotencyKey: string;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** A digest of the API key, which only tells keys apart. */
  readonly sender: string;
  readonly at: string;
}

interface RegisteredPlaces {
  readonly decision: string;
  readonly status: string;
  readonly places: readonly number[];
  readonly ids: readonly (number | null)[];
  readonly scores: readonly number[];
}

/** The answer to a batch. Places count from 0 within the batch. */
export interface AnsweredLine {
  readonly kind: 'answered';
  readonly batch: number;
  readonly attempt: number;
  readonly at: string;
  /** By decision and status: the places, and for each place the application's id (null in the sandbox) and score. */
  readonly registered: readonly RegisteredPlaces[];
  readonly refused: readonly {
    readonly kind: 'duplicate' | 'invalid';
    readonly reason: string;
    readonly places: readonly number[];
  }[];
  /** The places that the quota had no room for. */
  readonly left: readonly number[];
}

/** The last line: every row of the file is settled. */
export interface EndLine {
  readonly kind: 'end';
  readonly at: string;
}

/** The first line of a new journal. */
export function newHeader(source: Source, url: string): Header {
  const { size, mtime, sha256 } = source.file;
  return {
    kind: 'submission',
    version: VERSION,
    id: randomUUID(),
    file: { size, mtime: mtime.toISOString(), sha256 },
    url,
    settings: source.settings,
  };
}

/** Throws `BulkError` where the journal at `path` is not of this submission of `file`. */
export function refuseOther(path: string, file: string, before: Header, now: Header): void {
  const begun = `${basename(path)} is the record of a submission of ${file}`;
  const anew =
    'To begin a new submission, remove that file. Then phones with an open application are refused, but applicants without a phone can be registered twice';
  if (before.kind !== 'submission' || before.version !== VERSION) {
    throw new BulkError(`${begun} by another version of this program. ${anew}`);
  }
  if (before.file.sha256 !== now.file.sha256) {
    throw new BulkError(
      `${begun}, and the file has changed since. Restore the file to go on. Send corrected rows as a file of their own. ${anew}`,
    );
  }
  if (before.url !== now.url) throw new BulkError(`${begun} to ${before.url}, not to ${now.url}. ${anew}`);
  if (JSON.stringify(before.settings) !== JSON.stringify(now.settings)) {
    throw new BulkError(
      `${begun} with other options for columns or values (--map, --decimal, --consent-values, --header-row, --encoding, --sheet, --visible-only). Use the same options to go on. ${anew}`,
    );
  }
}

/** A type of a line, with arrays that can grow. */
type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** The journal's line for an answer. `places` are the applications' places within the batch. */
export function answerOf(
  { batch, attempt }: SentLine,
  outcomes: readonly Outcome[],
  places: readonly number[],
  now: Date,
): AnsweredLine {
  const registered = new Map<string, Growing<RegisteredPlaces>>();
  const refused = new Map<string, { kind: 'duplicate' | 'invalid'; reason: string; places: number[] }>();
  const left: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const place = places[index]!;
    if (outcome.kind === 'registered') {
      const { decision, status, id, score } = outcome;
      const none = { decision, status, places: [], ids: [], scores: [] };
      const same = registered.get(`${decision} ${status}`) ?? none;
      same.places.push(place);
      same.ids.push(id);
      same.scores.push(score);
      registered.set(`${decision} ${status}`, same);
    } else if (outcome.kind === 'quota_exceeded') left.push(place);
    else {
      const { kind, error: reason } = outcome;
      const same = refused.get(`${kind} ${reason}`) ?? { kind, reason, places: [] };
      same.places.push(place);
      refused.set(`${kind} ${reason}`, same);
    }
  }
  return {
    kind: 'answered',
    batch,
    attempt,
    at: now.toISOString(),
    registered: [...registered.values()],
    refused: [...refused.values()],
    left,
  };
}
