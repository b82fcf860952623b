/**
 * The record of a submission beside its file: which batches were sent under which key, and what came of them. It
 * holds numbers of rows, digests, keys and the service's reasons, and nothing of an applicant. With it the same
 * command goes on where it stopped, and registers nobody twice.
 */
import { createHash, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Outcome } from '../../../client/src/index.ts';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/problem.ts';
import { beginFile, LineWriter, readLines } from './journal-file.ts';

/** Another one wherever rows are cut into batches or digested otherwise: the same keys would name other rows. */
const VERSION = 2;
const KEY_HINT_DIGITS = 16;
/** Where the journal of a file is. */
export function journalPath(file: string, isSandbox: boolean): string {
  return `${file}.ventanilla-journal${isSandbox ? '-dev' : ''}`;
}

/** That of the quota (D18). */
const WINDOW_MS = 24 * 3_600_000;

interface Header {
  readonly kind: 'submission';
  readonly version: number;
  readonly id: string;
  readonly file: { readonly size: number; readonly mtime: string; readonly sha256: string };
  readonly url: string;
  readonly settings: unknown;
}

/** A batch on its way. `attempt` is 1, or more where the quota left rows of it over. */
export interface Sent {
  readonly kind: 'sent';
  readonly batch: number;
  readonly attempt: number;
  /** Numbers of the first and the last row. */
  readonly rows: readonly [number, number];
  readonly idempotencyKey: string;
  /** SHA-256 of what was sent, hex. */
  readonly digest: string;
  /** Which API key sent it: a digest that only tells keys apart. */
  readonly sender: string;
  readonly at: string;
}

/** What came of it. Places count from 0 within the batch. */
export interface Answered {
  readonly kind: 'answered';
  readonly batch: number;
  readonly attempt: number;
  readonly at: string;
  readonly registered: Readonly<Record<string, number>>;
  readonly refused: readonly {
    readonly kind: 'duplicate' | 'invalid';
    readonly reason: string;
    readonly places: readonly number[];
  }[];
  /** What the quota had no room for. */
  readonly left: readonly number[];
}

interface End {
  readonly kind: 'end';
  readonly at: string;
}

/** What is known of one batch. */
interface BatchRecord {
  /** The last attempt, where no answer to it is known. */
  inDoubt: Sent | null;
  readonly answers: Answered[];
}

export interface JournalOptions {
  readonly path: string;
  readonly source: Source;
  /** The environment's whole URL. */
  readonly url: string;
  readonly apiKey: string;
  /** True where a finished submission may be done again: nothing of it was stored. */
  readonly repeatable: boolean;
}

export class Journal {
  readonly path: string;
  readonly id: string;
  /** Tells API keys apart without telling them. */
  readonly sender: string;
  /** When the whole file was settled; null while it is not. */
  ended: string | null = null;
  readonly #batches = new Map<number, BatchRecord>();
  readonly #writer: LineWriter;
  #lastBatch = 0;

  private constructor(path: string, header: Header, apiKey: string, writer: LineWriter) {
    this.path = path;
    this.id = header.id;
    const digest = createHash('sha256').update(`${header.id} ${apiKey}`).digest('hex');
    this.sender = digest.slice(0, KEY_HINT_DIGITS);
    this.#writer = writer;
  }

  /** Goes on with the journal of the same submission, or begins one. Throws `BulkError` where it is of another. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { path, repeatable } = options;
    const last = (await readLines(path))?.at(-1) as End | undefined;
    if (repeatable && last?.kind === 'end') await rm(path);
    const header = newHeader(options);
    await beginFile(path, header);
    const [first, ...rest] = ((await readLines(path)) ?? []) as [Header?, ...(Sent | Answered | End)[]];
    if (first === undefined) throw new BulkError(`${basename(path)}: it is empty. Remove it to begin anew`);
    refuseOther(options, first, header);
    const journal = new Journal(path, first, options.apiKey, await LineWriter.open(path));
    for (const line of rest) journal.#remember(line);
    return journal;
  }

  /** True where an earlier run sent something. */
  get isResumed(): boolean {
    return this.#batches.size > 0;
  }

  /** The highest number of a batch that was sent; 0 where none was. */
  get lastBatch(): number {
    return this.#lastBatch;
  }

  /**
   * When, at the latest, the first of the applications that this submission registered within the last 24 hours
   * leave the quota's window, and how many they are. null where there are none.
   */
  firstToLeave(now: Date): { readonly at: Date; readonly count: number } | null {
    let first: { at: Date; count: number } | null = null;
    for (const { answers } of this.#batches.values()) {
      for (const answer of answers) {
        const at = new Date(Date.parse(answer.at) + WINDOW_MS);
        const count = registeredIn(answer);
        if (count > 0 && at > now && (first === null || at < first.at)) first = { at, count };
      }
    }
    return first;
  }

  batch(number: number): BatchRecord {
    return this.#batches.get(number) ?? { inDoubt: null, answers: [] };
  }

  /** Resolves when the line is on the disk: a batch is not sent before. */
  async add(line: Sent | End): Promise<void> {
    this.#remember(line);
    await this.#writer.append(line);
  }

  /** Need not be on the disk at once: should it be lost, the batch is asked for again under its key. */
  note(line: Answered): void {
    this.#remember(line);
    this.#writer.note(line);
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }

  #remember(line: Sent | Answered | End): void {
    if (line.kind === 'end') {
      this.ended = line.at;
      return;
    }
    const record = this.batch(line.batch);
    this.#lastBatch = Math.max(this.#lastBatch, line.batch);
    this.#batches.set(line.batch, record);
    // Two processes at the same file send the same under the same keys, and both write it down.
    if (line.attempt <= record.answers.length) return;
    if (line.kind === 'sent') {
      record.inDoubt = line;
      return;
    }
    record.inDoubt = null;
    record.answers.push(line);
  }
}

function registeredIn({ registered }: Answered): number {
  return Object.values(registered).reduce((sum, count) => sum + count, 0);
}

function newHeader({ source, url }: JournalOptions): Header {
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

function refuseOther({ path, source }: JournalOptions, before: Header, now: Header): void {
  const begun = `${basename(path)} is the record of a submission of ${source.file.file}`;
  const anew =
    'If it is meant as a new submission, remove that file first: phones that are open are refused, but who has no phone can be registered twice';
  if (before.kind !== 'submission' || before.version !== VERSION) {
    throw new BulkError(`${begun} by another version of this program. ${anew}`);
  }
  if (before.file.sha256 !== now.file.sha256) {
    throw new BulkError(
      `${begun}, and the file has changed since. Put it back to go on; send corrected rows as a file of their own. ${anew}`,
    );
  }
  if (before.url !== now.url) throw new BulkError(`${begun} to ${before.url}, not to ${now.url}. ${anew}`);
  if (JSON.stringify(before.settings) !== JSON.stringify(now.settings)) {
    throw new BulkError(
      `${begun} with other options for its columns or values (--map, --decimal, --consent-values, --encoding). Use the same to go on. ${anew}`,
    );
  }
}

/** What an answer means for the journal; `places` are those of the applications within the batch. */
export function answerOf(
  { batch, attempt }: Sent,
  outcomes: readonly Outcome[],
  places: readonly number[],
  now: Date,
): Answered {
  const registered: Record<string, number> = {};
  const refused = new Map<string, { kind: 'duplicate' | 'invalid'; reason: string; places: number[] }>();
  const left: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const place = places[index] as number;
    if (outcome.kind === 'registered') registered[outcome.decision] = (registered[outcome.decision] ?? 0) + 1;
    else if (outcome.kind === 'quota_exceeded') left.push(place);
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
    registered,
    refused: [...refused.values()],
    left,
  };
}
