/** A file of JSON lines that only grows. */
import { appendFileSync } from 'node:fs';
import { type FileHandle, link, open, readFile, truncate, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { bulkErrorAt } from '../read/bulk-error.ts';

const OWNER_ALONE = 0o600;

/** The lines of a file, or null where there is none. A last line that a crash tore is cut off. Throws `BulkError`. */
export async function readLines(path: string): Promise<unknown[] | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) await truncate(path, Buffer.byteLength(text.slice(0, whole)));
  const lines = text.slice(0, whole).split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw bulkErrorAt(
        basename(path),
        index + 1,
        null,
        'it is damaged. Without it nobody knows what was sent: keep it',
      );
    }
  });
}

/**
 * Makes a file of one line, on the disk when it resolves; nothing where there is one already. Of two processes at the
 * same moment one makes it, and neither sees it half written.
 */
export async function beginFile(path: string, first: unknown): Promise<void> {
  const draft = `${path}.${process.pid}`;
  const handle = await open(draft, 'w', OWNER_ALONE);
  try {
    await handle.appendFile(`${JSON.stringify(first)}\n`);
    await handle.datasync();
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await handle.close();
    await unlink(draft);
  }
}

/** Appends from one process; lines that come while the disk is busy go to it together. */
export class LineWriter {
  readonly #handle: FileHandle;
  #waiting = '';
  #flushing: Promise<void> | null = null;
  #failure: Error | null = null;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<LineWriter> {
    return new LineWriter(await open(path, 'a', OWNER_ALONE));
  }

  /** Goes to the disk with the next line that is appended, or when the file is closed. */
  note(value: unknown): void {
    this.#waiting += `${JSON.stringify(value)}\n`;
  }

  /** On the disk when it resolves. After a line that could not be written none is: it may be half there. */
  async append(value: unknown): Promise<void> {
    this.note(value);
    // What is on its way to the disk left without this line.
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
      this.#failure = error as Error;
      throw error;
    }
  }
}
