/** Writes a CSV file that appears under its name only when it is whole. */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { neutralised } from '../read/rejected-rows.ts';

/** Tells spreadsheets that the file is UTF-8. */
const MARK = '\ufeff';
const PIECE_CHARACTERS = 64 * 1024;
const OWNER_ALONE = 0o600;

/** Only its owner may read the file. No cell runs as a formula in a spreadsheet. */
export class UnfinishedCsv {
  /** The file in the making. */
  readonly part: string;
  readonly #path: string;
  readonly #delimiter: string;
  #stream: WriteStream | null = null;
  #piece = '';

  /** Writes nothing before the first line. */
  constructor(path: string, delimiter: string) {
    this.#path = path;
    this.part = `${path}.part`;
    this.#delimiter = delimiter;
  }

  /** True after the first line. */
  get isBegun(): boolean {
    return this.#stream !== null;
  }

  async line(texts: readonly string[]): Promise<void> {
    if (this.#stream === null) {
      await rm(this.part, { force: true });
      this.#stream = createWriteStream(this.part, { mode: OWNER_ALONE, flags: 'wx' });
      await once(this.#stream, 'open');
      this.#piece = MARK;
    }
    this.#piece += `${texts.map((text) => quoted(neutralised(text), this.#delimiter)).join(this.#delimiter)}\r\n`;
    if (this.#piece.length > PIECE_CHARACTERS) await this.#flush();
  }

  /** Ends the writing, before `publish`. */
  async close(): Promise<void> {
    await this.#flush();
    this.#stream?.end();
    if (this.#stream !== null) await once(this.#stream, 'close');
  }

  /** Puts the file in its place, where it replaces an older one. */
  async publish(): Promise<void> {
    await rename(this.part, this.#path);
  }

  /** Removes an unfinished file. */
  async discard(): Promise<void> {
    this.#stream?.destroy();
    if (this.#stream !== null) await rm(this.part, { force: true });
  }

  async #flush(): Promise<void> {
    const piece = this.#piece;
    this.#piece = '';
    if (this.#stream?.write(piece) === false) await once(this.#stream, 'drain');
  }
}

function quoted(text: string, delimiter: string): string {
  if (!text.includes(delimiter) && !/["\r\n]/.test(text) && text.trim() === text) return text;
  return `"${text.replaceAll('"', '""')}"`;
}
