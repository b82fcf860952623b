/**
 * Writes the files that a run leaves beside the file of applicants: the rejected rows, with row numbers and reasons,
 * ready to be corrected and submitted; the rows in doubt, in the same form; and the results.
 */

import { once } from 'node:events';
import { constants, createWriteStream, type WriteStream } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Words } from '../../../../src/ground/base/language.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { FileRow } from '../read/table.ts';
import type { CutRow } from './cut.ts';
import { journalPath } from './journal.ts';
import { csvLine, MARK, type RejectedForm, rejectedForm } from './row-csv.ts';

const PIECE_BYTES = 64 * 1024;

/** Writes one such file. The file gets its name only when it is whole. */
export class RejectedFile {
  readonly path: string;
  readonly #form: RejectedForm;
  readonly #csv: UnfinishedCsv;
  #rows = 0;

  /** Writes nothing before the first row. */
  constructor(path: string, columns: readonly string[], delimiter: string) {
    this.path = path;
    this.#form = rejectedForm(columns);
    this.#csv = new UnfinishedCsv(path, delimiter);
  }

  async add(row: FileRow, reason: string): Promise<void> {
    if (!this.#csv.isBegun) await this.#csv.line(this.#form.header);
    await this.#csv.line(this.#form.line(row, reason));
    this.#rows += 1;
  }

  /**
   * Puts the file in its place and says how many rows it has. An older file is replaced where the new one begins with
   * all of it. Any other older file, such as a corrected one, is kept under the name `kept`. So is a submitted one,
   * with its journals, which go on under that name. `isOld` is true where this run wrote no file and an earlier run
   * did.
   */
  async finish(): Promise<{ rows: number; kept: string | null; isOld: boolean }> {
    if (!this.#csv.isBegun) return { rows: 0, kept: null, isOld: await exists(this.path) };
    await this.#csv.close();
    let kept: string | null = null;
    if ((await wasSubmitted(this.path)) || !(await beginsWith(this.#csv.part, this.path))) {
      const name = await freeName(this.path);
      // The journals move first: without its journal the file would be a new submission.
      for (const isSandbox of [false, true]) {
        if (await exists(journalPath(this.path, isSandbox)))
          await rename(journalPath(this.path, isSandbox), journalPath(name, isSandbox));
      }
      if (await exists(this.path)) {
        await rename(this.path, name);
        kept = name;
      }
    }
    await this.#csv.publish();
    return { rows: this.#rows, kept, isOld: false };
  }

  /** Removes an unfinished file. */
  async discard(): Promise<void> {
    await this.#csv.discard();
  }
}

/** True where there is no older file, or the newer one begins with all of it. */
async function beginsWith(newer: string, older: string): Promise<boolean> {
  const size = await stat(older).then(
    (stats) => stats.size,
    () => 0,
  );
  const [a, b] = [await open(newer), await open(older).catch(() => null)];
  try {
    if (b === null) return true;
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const [left, right] = [Buffer.alloc(PIECE_BYTES), Buffer.alloc(PIECE_BYTES)];
      const { bytesRead } = await b.read(right, 0, PIECE_BYTES, at);
      await a.read(left, 0, PIECE_BYTES, at);
      if (!left.subarray(0, bytesRead).equals(right.subarray(0, bytesRead))) return false;
    }
    return true;
  } finally {
    await a.close();
    await b?.close();
  }
}

async function freeName(path: string): Promise<string> {
  const stem = path.replace(/\.csv$/, '');
  for (let number = 1; ; number++) {
    const name = `${stem}.${number}.csv`;
    if (!(await exists(name)) && !(await wasSubmitted(name))) return name;
  }
}

async function wasSubmitted(path: string): Promise<boolean> {
  return (await exists(journalPath(path, false))) || (await exists(journalPath(path, true)));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

// Writes the results file: one line for each row of the file of applicants, in its order. Every run writes the results
// file anew from the journal and its own answers. So a run after `kill -9` completes the file, and loses no answer.

const COLUMNS = ['row', 'id_number', 'outcome', 'id', 'score', 'decision', 'status', 'reason'] as const;
/** A byte order mark and the first columns with any delimiter. */
const BEGINNING = /^\ufeffrow[,;\t]id_number[,;\t]outcome[,;\t]/;
const BEGINNING_BYTES = 64;

/** What became of a row. The outcomes have the names of the JSON summary. */
export type RowResult =
  | {
      readonly outcome: 'registered';
      /** null in the sandbox. */
      readonly id: number | null;
      readonly score: number;
      readonly decision: string;
      readonly status: string;
    }
  | {
      readonly outcome: 'duplicate' | 'invalid' | 'unreadable' | 'in_doubt' | 'not_sent';
      /** Empty for a row that was not sent at all. */
      readonly reason: string;
    };

export class ResultsFile {
  readonly path: string;
  /** True once the file is in its place. */
  isFinished = false;
  readonly #csv: UnfinishedCsv;

  constructor(path: string, delimiter: string) {
    this.path = path;
    this.#csv = new UnfinishedCsv(path, delimiter);
  }

  async add({ number, echo }: CutRow, result: RowResult): Promise<void> {
    if (!this.#csv.isBegun) await this.#csv.line(COLUMNS);
    const { outcome } = result;
    const rest =
      outcome === 'registered'
        ? [String(result.id ?? ''), String(result.score), result.decision, result.status, '']
        : ['', '', '', '', result.reason];
    await this.#csv.line([String(number), echo ?? '', outcome, ...rest]);
  }

  /** Puts the file in its place. */
  async finish(): Promise<void> {
    if (!this.#csv.isBegun) await this.#csv.line(COLUMNS);
    await this.#csv.close();
    await this.#csv.publish();
    this.isFinished = true;
  }

  /** Removes an unfinished file. */
  async discard(): Promise<void> {
    await this.#csv.discard();
  }
}

/**
 * Throws `BulkError` where the results must not go to `path`: the submission uses the path for another file (`taken`),
 * or a file is there that no earlier run of this submission wrote.
 */
export async function refuseResultsPath(
  path: string,
  taken: readonly string[],
  isResumed: boolean,
): Promise<void> {
  const file = basename(path);
  const refuse = ({ en, es }: Words) =>
    new BulkError({
      en: `--results ${file}: ${en}. Choose another name`,
      es: `--results ${file}: ${es}. Elige otro nombre`,
    });
  if (taken.some((other) => resolve(other) === resolve(path)))
    throw refuse({ en: 'it is a file of the submission', es: 'es un archivo del propio envío' });
  const stats = await stat(path).catch(() => null);
  if (stats === null) {
    await access(dirname(resolve(path)), constants.W_OK).catch(() => {
      throw refuse({
        en: 'its folder does not exist or may not be written',
        es: 'su carpeta no existe o no se puede escribir en ella',
      });
    });
    return;
  }
  if (!stats.isFile() || !(await isResults(path)))
    throw refuse({
      en: 'it exists and is not a results file',
      es: 'existe y no es un archivo de resultados',
    });
  if (!isResumed)
    throw refuse({
      en: 'it has the results of another submission',
      es: 'tiene los resultados de otro envío',
    });
}

async function isResults(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return BEGINNING.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

// Writes a CSV file that appears under its name only when it is whole.

const PIECE_CHARACTERS = 64 * 1024;
const OWNER_ALONE = 0o600;

/** Only its owner may read the file. No cell runs as a formula in a spreadsheet. */
class UnfinishedCsv {
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
    this.#piece += csvLine(texts, this.#delimiter);
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
