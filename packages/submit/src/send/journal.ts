/**
 * The record of a submission, beside its file: the batches that were sent under each Idempotency-Key, and their
 * answers. The journal holds row numbers, digests, those keys and the service's answers (ids, scores, decisions and
 * reasons), and nothing of what the file says of an applicant. With the journal the same command goes on where it
 * stopped, registers nobody twice and knows every result.
 */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { type FileHandle, link, open, readFile, rm, truncate, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import { errorCode } from '../../../../src/ground/base/error-code.ts';
import { DAY_MS } from '../../../../src/ground/base/time.ts';
import type { Source } from '../map/source.ts';
import { BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import {
  type AnsweredLine,
  type EndLine,
  type Header,
  newHeader,
  refuseOther,
  type SentLine,
} from './journal-lines.ts';

// A file of JSON lines that only grows.

const OWNER_ALONE = 0o600;

/**
 * The lines of a file; null where there is no file. Cuts off a last line that a crash left incomplete. Throws
 * `BulkError`.
 */
async function readLines(path: string): Promise<unknown[] | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) await truncate(path, Buffer.byteLength(text.slice(0, whole)));
  const lines = text.slice(0, whole).split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw bulkErrorAt(basename(path), index + 1, null, {
        en: 'it is damaged. Keep it: it is the only record of what was sent',
        es: 'está dañado. Consérvalo: es el único registro de lo que se envió',
      });
    }
  });
}

/**
 * Makes a file of one line, unless the file exists. Resolves when the line is on the disk. Of two processes at the same
 * moment one makes the file, and neither sees it half written.
 */
async function beginFile(path: string, first: unknown): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  const handle = await open(unfinished, 'w', OWNER_ALONE);
  try {
    await handle.appendFile(`${JSON.stringify(first)}\n`);
    await handle.datasync();
    await link(unfinished, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await handle.close();
    await unlink(unfinished);
  }
}

/** Appends lines from one process. Lines that come while the disk is busy are written together. */
export class LineWriter {
  readonly #handle: FileHandle;
  #waiting = '';
  #flushing: Promise<void> | null = null;
  #failure: unknown = null;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<LineWriter> {
    return new LineWriter(await open(path, 'a', OWNER_ALONE));
  }

  /** Adds a line that goes to the disk with the next appended line, or when the file is closed. */
  note(value: unknown): void {
    this.#waiting += `${JSON.stringify(value)}\n`;
  }

  /**
   * Resolves when the line is on the disk. After a failure nothing more is written, because half a line may be there.
   */
  async append(value: unknown): Promise<void> {
    this.note(value);
    // The flush under way does not have this line.
    await this.#flushing;
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
  }

  async close(): Promise<void> {
    try {
      await this.#flushing;
      if (this.#waiting !== '' && this.#failure === null) await this.#flush();
    } finally {
      await this.#handle.close();
    }
  }

  async #flush(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const lines = this.#waiting;
    this.#waiting = '';
    try {
      appendFileSync(this.#handle.fd, lines);
      await this.#handle.datasync();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}

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
