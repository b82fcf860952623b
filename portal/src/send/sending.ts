/**
 * Sends the rows of a file to `POST /api/batches`, cut and retried as `ventanilla submit` does (docs/portal.md, "Sending a
 * file"). What was answered is known only while the page is open: the Idempotency-Keys are made of the file, the key and
 * what the rows are read by, so the same file sent again gets the first answers of the service again. The browser keeps
 * digests of the files that were sent, and nothing else.
 */

import { AuthenticationError, RequestRefusedError } from '../../../client/src/errors.ts';
import type { Fetch } from '../../../client/src/options.ts';
import { sendBatch } from '../../../client/src/send-batch.ts';
import type { Outcome } from '../../../client/src/wire.ts';
import { asOperator, shownOperator } from '../../../console/src/api/ask.ts';
import { presence } from '../../../console/src/api/presence.ts';
import { browserClock } from '../../../console/src/clock.ts';
import type { Source } from '../../../packages/submit/src/map/source.ts';
import { BulkError } from '../../../packages/submit/src/read/bulk-error.ts';
import { hexOf } from '../../../packages/submit/src/read/bytes.ts';
import type { FileRow } from '../../../packages/submit/src/read/table.ts';
import { cutRows } from '../../../packages/submit/src/send/cut.ts';
import {
  type AnsweredLine,
  BatchRecords,
  HOUR_MS,
  type Records,
  type SentLine,
} from '../../../packages/submit/src/send/records.ts';
import { csvLine, MARK, rejectedForm } from '../../../packages/submit/src/send/row-csv.ts';
import { sendRows, type Tally } from '../../../packages/submit/src/send/send.ts';
import type { Environment } from '../../../src/domain/partner/credential.ts';

/** The key, by its id, and where it sends. */
export interface Destination {
  readonly keyId: number;
  readonly environment: Environment;
}

/** How a sending ended. */
export interface Ended {
  readonly kind: 'done' | 'quota' | 'stopped' | 'failed';
  readonly tally: Readonly<Tally>;
  /** Why it failed; null: it did not. */
  readonly failure: Trouble | null;
  /** The rows that were not taken, as `submit` writes them; null: there are none. */
  readonly refused: Blob | null;
}

/** Why a sending failed. `code` is the service's word, `text` what it or the reader of files says; both may be empty. */
export interface Trouble {
  readonly kind: 'session' | 'refused' | 'file' | 'no_answer';
  readonly code: string;
  readonly text: string;
}

interface Sending {
  readonly source: Source;
  readonly rows: number;
  readonly to: Destination;
  readonly records: PageRecords;
  /** What is wrong with a row by the page's own check, in the language of the page. */
  readonly faultsOf: (row: number) => readonly string[];
  /** The reason of a row whose phone has an open application. */
  readonly duplicate: string;
  readonly stop: AbortSignal;
  readonly onProgress: (tally: Readonly<Tally>) => void;
  /** Called before the wait for another attempt. */
  readonly onWait: (seconds: number) => void;
}

const CONCURRENCY = 4;
/** As the client of partners: about half a minute, with the waits that the service asks for. */
const PATIENCE = { retries: 6, timeoutMs: 15_000 };

/** The records of a submission while the page is open. */
export class PageRecords implements Records {
  readonly id: string;
  readonly name: string;
  /** A page sends as one key: another one is another submission. */
  readonly keyDigest = '';
  readonly #records = new BatchRecords();

  constructor(id: string, name: string) {
    this.id = id;
    this.name = name;
  }

  get lastBatch(): number {
    return this.#records.last;
  }

  batch(number: number) {
    return this.#records.batch(number);
  }

  async add(line: SentLine): Promise<void> {
    this.#records.remember(line);
  }

  note(line: AnsweredLine): void {
    this.#records.remember(line);
  }
}

/** Changes with the way that rows are cut into batches: the same keys would name other rows. */
const VERSION = 1;

/** The id of the submission of a file: the same file, key and mapping have the same one. */
export function submissionId(
  { file, country, settings }: Source,
  { keyId, environment }: Destination,
): Promise<string> {
  return digestOf([VERSION, file.sha256, keyId, environment, country, settings]);
}

/** Sends what no earlier call with these records has sent. Never rejects. */
export async function send({ source, rows, to, records, ...about }: Sending): Promise<Ended> {
  const replayed = new Set<string>();
  const fetch = fetchTo(to, replayed);
  const endpoint = { ...PATIENCE, url: '', apiKey: '', fetch, clock: browserClock };
  const refused = new RefusedRows(source, about.faultsOf);
  let tally: Readonly<Tally> = NOTHING;
  const ended = (kind: Ended['kind'], failure: Trouble | null = null): Ended => ({
    ...{ kind, tally, failure },
    refused: refused.file(),
  });
  try {
    tally = await sendRows({
      batches: cutRows(source),
      source,
      totalRows: rows,
      journal: records,
      submitBatch: async (batch) => {
        const onRetry = ({ delayMs }: { delayMs: number }) => about.onWait(Math.ceil(delayMs / 1_000));
        const outcomes = await sendBatch(endpoint, batch, { onRetry });
        return outcomes.map((outcome) => inWords(outcome, about.duplicate));
      },
      isReplay: (idempotencyKey) => replayed.has(idempotencyKey),
      // Whatever the page's language is: another body under the same key would be refused.
      asksIn: 'en',
      files: {
        rejected: refused,
        inDoubt: { add: async () => {} },
        results: null,
        language: source.language,
      },
      concurrency: CONCURRENCY,
      clock: browserClock,
      stop: about.stop,
      onProgress: (now) => {
        tally = { ...now };
        about.onProgress(tally);
      },
    });
    return ended(tally.notSent === 0 ? 'done' : tally.quotaReached ? 'quota' : 'stopped');
  } catch (error) {
    return ended('failed', troubleOf(error, source));
  }
}

const NOTHING: Tally = {
  ...{ rows: 0, registered: {}, duplicate: 0, invalid: 0, unreadable: 0, inDoubt: 0, notSent: 0 },
  quotaReached: false,
};

function inWords(outcome: Outcome, duplicate: string): Outcome {
  return outcome.kind === 'duplicate' ? { ...outcome, error: duplicate } : outcome;
}

function fetchTo({ keyId, environment }: Destination, replayed: Set<string>): Fetch {
  const as = asOperator(shownOperator());
  return async (_url, { headers, ...request }) => {
    const key = headers['Idempotency-Key']!;
    const response = await fetch(`/api/batches?key=${keyId}&environment=${environment}`, {
      ...request,
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
        Accept: headers.Accept!,
        ...presence(),
        ...as,
      },
    });
    if (response.headers.has('Idempotency-Replayed')) replayed.add(key);
    return response;
  };
}

function troubleOf(error: unknown, { language }: Source): Trouble {
  if (error instanceof BulkError)
    return { kind: 'file', code: '', text: error.words[language] ?? error.words.en };
  if (error instanceof AuthenticationError) return { kind: 'session', code: '', text: '' };
  if (error instanceof RequestRefusedError)
    return { kind: 'refused', code: error.code ?? '', text: error.message };
  return { kind: 'no_answer', code: '', text: '' };
}

/** The rows that were not taken, with the reasons: those of the page's check, which reads in the page's language. */
class RefusedRows {
  readonly #form: ReturnType<typeof rejectedForm>;
  readonly #delimiter: string;
  readonly #faultsOf: Sending['faultsOf'];
  readonly #lines: string[] = [];

  constructor({ table, delimiter }: Source, faultsOf: Sending['faultsOf']) {
    this.#form = rejectedForm(table.columns);
    this.#delimiter = delimiter;
    this.#faultsOf = faultsOf;
  }

  async add(row: FileRow, reason: string): Promise<void> {
    const own = this.#faultsOf(row.number).join('; ');
    this.#lines.push(csvLine(this.#form.line(row, own || reason), this.#delimiter));
  }

  file(): Blob | null {
    if (this.#lines.length === 0) return null;
    const header = csvLine(this.#form.header, this.#delimiter);
    return new Blob([MARK, header, ...this.#lines], { type: 'text/csv' });
  }
}

// What the browser keeps of files that were sent: digests and times. After 24 hours the service has forgotten the
// answers, and another mapping is another submission: then applicants without a phone would be registered twice.

const STORED = 'ventanilla-sent';
const MOST_STORED = 100;
/** The service keeps an Idempotency-Key for 24 hours. One hour is spare, as in `submit`. */
const KEY_LIVES_MS = 23 * HOUR_MS;

type Stored = readonly [file: string, id: string, atMs: number];

/**
 * What this browser knows of earlier sendings of the file to production. `again`: the first answers come back.
 * `anew`: they would not, and somebody could be registered twice.
 */
export async function sentBefore(
  source: Source,
  to: Destination,
  id: string,
): Promise<{ readonly kind: 'never' } | { readonly kind: 'again' | 'anew'; readonly at: Date }> {
  if (to.environment === 'DEV') return { kind: 'never' };
  const file = await fileDigest(source);
  const known = stored().find(([one]) => one === file);
  if (known === undefined) return { kind: 'never' };
  const [, sent, atMs] = known;
  const isKept = sent === id && browserClock.nowMs() - atMs < KEY_LIVES_MS;
  return { kind: isKept ? 'again' : 'anew', at: new Date(atMs) };
}

/** Keeps that the file is sent now, unless the sending goes on with an earlier one (`again`), whose time counts. */
export async function noteSending(
  source: Source,
  to: Destination,
  id: string,
  before: Awaited<ReturnType<typeof sentBefore>>['kind'],
): Promise<void> {
  if (to.environment === 'DEV' || before === 'again') return;
  const file = await fileDigest(source);
  const others = stored().filter(([one]) => one !== file);
  const now: Stored = [file, id, browserClock.nowMs()];
  localStorage.setItem(STORED, JSON.stringify([...others, now].slice(-MOST_STORED)));
}

function stored(): readonly Stored[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(value) ? value.filter((one) => Array.isArray(one) && one.length === 3) : [];
  } catch {
    return [];
  }
}

const fileDigest = ({ file }: Source) => digestOf(['file', file.sha256]);

async function digestOf(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
