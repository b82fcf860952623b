/**
 * The record of a submission, beside its file: the batches that were sent under each Idempotency-Key, and their
 * answers. The journal holds row numbers, digests, those keys and the service's answers (ids, scores, decisions and
 * reasons), and nothing of what the file says of an applicant. With the journal the same command goes on where it
 * stopped, registers nobody twice and knows every result.
 */
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { type FileHandle, link, open, readFile, rm, truncate, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Country } from '../../../../src/ground/base/country-data.ts';
import { errorCode } from '../../../../src/ground/base/describe-error.ts';
import type { Words } from '../../../../src/ground/base/language.ts';
import type { Source } from '../map/source.ts';
import { BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import { type AnsweredLine, type BatchRecord, BatchRecords, type Records, type SentLine } from './records.ts';

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
export interface JournalOptions {
  readonly path: string;
  readonly source: Source;
  /** The environment's whole URL. */
  readonly url: string;
  readonly apiKey: string;
  /** True for the sandbox: a finished submission may begin again, because nothing was stored. */
  readonly repeatable: boolean;
}

export class Journal implements Records {
  readonly path: string;
  readonly id: string;
  /** The partner's country when the submission began: rows are read by it until the last one. */
  readonly country: Country | null;
  /** Tells API keys apart without revealing them. */
  readonly keyDigest: string;
  /** The time at which the whole file was settled; null until then. */
  ended: string | null = null;
  readonly #records = new BatchRecords();
  readonly #writer: LineWriter;

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
    return this.lastBatch > 0;
  }

  /** The highest number of a sent batch; 0 where no batch was sent. */
  get lastBatch(): number {
    return this.#records.last;
  }

  /** The name of the file. */
  get name(): string {
    return basename(this.path);
  }

  batch(number: number): BatchRecord {
    return this.#records.batch(number);
  }

  firstToLeave(now: Date): ReturnType<BatchRecords['firstToLeave']> {
    return this.#records.firstToLeave(now);
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
    if (line.kind === 'end') this.ended = line.at;
    else this.#records.remember(line);
  }
}

// The lines of a submission's journal: the submission, the sent batches and their answers.

/** Changes with the way that rows are cut into batches or digested: the same keys would name other rows. */
const VERSION = 4;

const SETTINGS = '--map, --decimal, --consent-values, --header-row, --encoding, --sheet, --visible-only';
const ANEW: Words = {
  en: 'To begin a new submission, remove that file. Then phones with an open application are refused, but applicants without a phone can be registered twice',
  es: 'Para empezar un envío nuevo, borra ese archivo. Entonces se rechazan los teléfonos con una solicitud abierta, pero quien no tiene teléfono puede quedar registrado dos veces',
};

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
  /** The partner's country, which tells the currency of a `$`. */
  readonly country: Country | null;
  readonly settings: unknown;
}

/** The last line: every row of the file is settled. */
interface EndLine {
  readonly kind: 'end';
  readonly at: string;
}

/** The first line of a new journal. */
function newHeader(source: Source, url: string): Header {
  const { bytes, sha256 } = source.file;
  return {
    kind: 'submission',
    version: VERSION,
    id: randomUUID(),
    file: { size: bytes.size, mtime: bytes.mtime.toISOString(), sha256 },
    url,
    country: source.country,
    settings: source.settings,
  };
}

/** Throws `BulkError` where the journal at `path` is not of this submission of `file`. */
function refuseOther(path: string, file: string, before: Header, now: Header): void {
  const refusal = ({ en, es }: Words) =>
    new BulkError({
      en: `${basename(path)} is the record of a submission of ${file}${en} ${ANEW.en}`,
      es: `${basename(path)} es el registro de un envío de ${file}${es} ${ANEW.es}`,
    });
  if (before.kind !== 'submission' || before.version !== VERSION) {
    throw refusal({
      en: ' by another version of this program.',
      es: ' hecho con otra versión de este programa.',
    });
  }
  if (before.file.sha256 !== now.file.sha256) {
    throw refusal({
      en: ', and the file has changed since. Restore the file to go on. Send corrected rows as a file of their own.',
      es: ', y el archivo cambió desde entonces. Restaura el archivo para seguir. Envía las filas corregidas en un archivo aparte.',
    });
  }
  if (before.url !== now.url)
    throw refusal({ en: ` to ${before.url}, not to ${now.url}.`, es: ` a ${before.url}, no a ${now.url}.` });
  if (JSON.stringify(before.settings) !== JSON.stringify(now.settings)) {
    throw refusal({
      en: ` with other options for columns or values (${SETTINGS}). Use the same options to go on.`,
      es: ` con otras opciones de columnas o valores (${SETTINGS}). Usa las mismas opciones para seguir.`,
    });
  }
}

// Keeps a second run away from a journal. The lock is one of the operating system on an empty file, so it ends with its
// process, however the process ends. SQLite is the way to such a lock that Node has on every platform.

/** SQLite's code for a file that another process has locked. */
const SQLITE_BUSY = 5;

interface JournalLock {
  release(): void;
}

/** The path of a journal's lock file. The file stays, because removing it could let two runs in. */
export function lockPath(journal: string): string {
  return `${journal}.lock`;
}

/** Locks the journal of `file`. Throws `BulkError` where another run has locked the journal, or no lock is possible. */
export function lockJournal(journal: string, file: string): JournalLock {
  // Avoids `import`, because only a submission needs the module.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    lock = new DatabaseSync(lockPath(journal));
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const { errcode, message } = error as Error & { readonly errcode?: number };
    if (errcode === SQLITE_BUSY) {
      throw new BulkError({
        en: `${file}: another run sends this file now (${basename(journal)} is locked). Wait until that run has ended`,
        es: `${file}: otra ejecución está enviando este archivo (${basename(journal)} está bloqueado). Espera a que termine`,
      });
    }
    throw new BulkError({
      en: `${basename(lockPath(journal))}: it cannot be locked (${message}). Move ${file} and its journal to a folder of this machine`,
      es: `${basename(lockPath(journal))}: no se puede bloquear (${message}). Mueve ${file} y su diario a una carpeta de este equipo`,
    });
  }
  return { release: () => lock.close() };
}
