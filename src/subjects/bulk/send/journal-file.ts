/** A file of JSON lines that only grows. */
import { appendFileSync } from 'node:fs';
import { type FileHandle, link, open, readFile, truncate, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCode } from '../../../ground/base/error-code.ts';
import { bulkErrorAt } from '../read/bulk-error.ts';

const OWNER_ALONE = 0o600;

/**
 * The lines of a file; null where there is no file. Cuts off a last line that a crash left incomplete. Throws
 * `BulkError`.
 */
export async function readLines(path: string): Promise<unknown[] | null> {
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
export async function beginFile(path: string, first: unknown): Promise<void> {
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
