/**
 * The record of a submission, beside its file: the batches that were sent under each Idempotency-Key, and their
 * answers. The journal holds row numbers, digests, those keys and the service's answers (ids, scores, decisions and
 * reasons), and nothing of what the file says of an applicant. With the journal the same command goes on where it
 * stopped, registers nobody twice and knows every result.
 */

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Country } from '../../../ground/base/country-data.ts';
import { DAY_MS } from '../../../ground/base/time.ts';
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
/** The window of the quota (D18). */
const WINDOW_MS = DAY_MS;

/** The attempts and answers of one batch. */
interface BatchRecord {
  /** The last attempt, if its answer is not known. */
  inDoubt: SentLine | null;
  readonly answers: AnsweredLine[];
}

export interface JournalOptions {
  readonly path: string;
  readonly source: Source;
  /** The environment's whole URL. */
  readonly url: string;
  readonly apiKey: string;
  /** True for the sandbox: a finished submission may begin again, because nothing was stored. */
  readonly repeatable: boolean;
}

export class Journal {
  readonly path: string;
  readonly id: string;
  /** The partner's country when the submission began: rows are read by it until the last one. */
  readonly country: Country | null;
  /** Tells API keys apart without revealing them. */
  readonly keyDigest: string;
  /** The time at which the whole file was settled; null until then. */
  ended: string | null = null;
  readonly #batches = new Map<number, BatchRecord>();
  readonly #writer: LineWriter;
  #lastBatch = 0;

  private constructor(path: string, header: Header, apiKey: string, writer: LineWriter) {
    this.path = path;
    this.id = header.id;
    this.country = header.country;
    const digest = createHash('sha256').update(`${header.id} ${apiKey}`).digest('hex');
    this.keyDigest = digest.slice(0, KEY_HINT_DIGITS);
    this.#writer = writer;
  }

  /**
   * Opens the journal of this submission, or begins one. Throws `BulkError` where the journal is of another
   * submission.
   */
  static async open(options: JournalOptions): Promise<Journal> {
    const { path, repeatable } = options;
    if (repeatable) {
      const last = (await readLines(path))?.at(-1) as EndLine | undefined;
      if (last?.kind === 'end') await rm(path);
    }
    const header = newHeader(options.source, options.url);
    await beginFile(path, header);
    const [first, ...rest] = ((await readLines(path)) ?? []) as [
      Header?,
      ...(SentLine | AnsweredLine | EndLine)[],
    ];
    if (first === undefined)
      throw new BulkError({
        en: `${basename(path)}: it is empty. Remove it to begin again`,
        es: `${basename(path)}: está vacío. Bórralo para empezar de nuevo`,
      });
    refuseOther(path, options.source.file.file, first, header);
    const journal = new Journal(path, first, options.apiKey, await LineWriter.open(path));
    for (const line of rest) journal.#remember(line);
    return journal;
  }

  /** True where an earlier run sent something. */
  get isResumed(): boolean {
    return this.#batches.size > 0;
  }

  /** The highest number of a sent batch; 0 where no batch was sent. */
  get lastBatch(): number {
    return this.#lastBatch;
  }

  /**
   * The latest time at which the first applications of this submission leave the quota's window, and how many leave.
   * null where this submission registered none within the last 24 hours.
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

  /** Resolves when the line is on the disk. A batch is sent only then. */
  async add(line: SentLine | EndLine): Promise<void> {
    this.#remember(line);
    await this.#writer.append(line);
  }

  /** Adds a line that need not be on the disk at once: if it is lost, the batch is sent again under its key. */
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
    // A folder that two machines share may keep no locks. Two runs then send the same batches under the same keys, and
    // both add their lines.
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
  return registered.reduce((sum, { places }) => sum + places.length, 0);
}
