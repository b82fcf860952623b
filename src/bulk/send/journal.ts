/**
 * The record of a submission beside its file: which batches were sent under which key, and what came of them. It
 * holds numbers of rows, digests, keys and the service's reasons, and nothing of an applicant. With it the same
 * command goes on where it stopped, and registers nobody twice.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { beginFile, LineWriter, readLines } from './journal-file.ts';
import {
  type AnsweredLine,
  type EndLine,
  type Header,
  newHeader,
  refuseOther,
  type SentLine,
} from './journal-lines.ts';

const KEY_HINT_DIGITS = 16;
/** That of the quota (D18). */
const WINDOW_MS = 24 * 3_600_000;

/** What is known of one batch. */
interface BatchRecord {
  /** The last attempt, where no answer to it is known. */
  inDoubt: SentLine | null;
  readonly answers: AnsweredLine[];
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
  readonly keyDigest: string;
  /** When the whole file was settled; null while it is not. */
  ended: string | null = null;
  readonly #batches = new Map<number, BatchRecord>();
  readonly #writer: LineWriter;
  #lastBatch = 0;

  private constructor(path: string, header: Header, apiKey: string, writer: LineWriter) {
    this.path = path;
    this.id = header.id;
    const digest = createHash('sha256').update(`${header.id} ${apiKey}`).digest('hex');
    this.keyDigest = digest.slice(0, KEY_HINT_DIGITS);
    this.#writer = writer;
  }

  /** Goes on with the journal of the same submission, or begins one. Throws `BulkError` where it is of another. */
  static async open(options: JournalOptions): Promise<Journal> {
    const { path, repeatable } = options;
    const last = (await readLines(path))?.at(-1) as EndLine | undefined;
    if (repeatable && last?.kind === 'end') await rm(path);
    const header = newHeader(options.source, options.url);
    await beginFile(path, header);
    const [first, ...rest] = ((await readLines(path)) ?? []) as [
      Header?,
      ...(SentLine | AnsweredLine | EndLine)[],
    ];
    if (first === undefined) throw new BulkError(`${basename(path)}: it is empty. Remove it to begin anew`);
    refuseOther(path, options.source.file.file, first, header);
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
  async add(line: SentLine | EndLine): Promise<void> {
    this.#remember(line);
    await this.#writer.append(line);
  }

  /** Need not be on the disk at once: should it be lost, the batch is asked for again under its key. */
  note(line: AnsweredLine): void {
    this.#remember(line);
    this.#writer.note(line);
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }

  #remember(line: SentLine | AnsweredLine | EndLine): void {
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

function registeredIn({ registered }: AnsweredLine): number {
  return Object.values(registered).reduce((sum, count) => sum + count, 0);
}
