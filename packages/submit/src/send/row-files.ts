/** Writes files of rejected rows, with row numbers and reasons, ready to be corrected and submitted. */

import { open, rename, stat } from 'node:fs/promises';
import { REASON_COLUMN, ROW_COLUMN } from '../read/rejected-rows.ts';
import { type Cell, type FileRow, ShownNumber, Unusable } from '../read/table.ts';
import { MAX_EXACT, UNKNOWN } from '../read/xlsx/number-cell.ts';
import { journalPath } from './journal-lines.ts';
import { UnfinishedCsv } from './unfinished-csv.ts';

/** A number with a point before three digits, which would be read as thousands. */
const AMBIGUOUS_NUMBER = /^-?\d{1,3}\.\d{3}$/;
const NUMBER = /^[\d.,\s]+$/;
const PIECE_BYTES = 64 * 1024;

/** Writes one such file. The file gets its name only when it is whole. */
export class RejectedFile {
  readonly path: string;
  readonly #columns: readonly string[];
  readonly #kept: readonly number[];
  readonly #csv: UnfinishedCsv;
  #rows = 0;

  /** Writes nothing before the first row. */
  constructor(path: string, columns: readonly string[], delimiter: string) {
    this.path = path;
    this.#columns = columns;
    // The columns that an earlier file of this kind added are left out.
    this.#kept = [...columns.entries()].flatMap(([index, name]) =>
      [ROW_COLUMN, REASON_COLUMN].includes(name) ? [] : [index],
    );
    this.#csv = new UnfinishedCsv(path, delimiter);
  }

  async add({ number, cells }: FileRow, reason: string): Promise<void> {
    if (!this.#csv.isBegun) {
      await this.#csv.line([
        ROW_COLUMN,
        REASON_COLUMN,
        ...this.#kept.map((index) => this.#columns[index] ?? ''),
      ]);
    }
    const beyond = cells.slice(this.#columns.length);
    await this.#csv.line([
      String(number),
      reason,
      ...[...this.#kept.map((index) => cells[index]), ...beyond].map(textOf),
    ]);
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

function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Unusable) return cell.text;
  if (cell instanceof ShownNumber && cell.currency !== null)
    return `${cell.currency.word} ${textOf(cell.value)}`;
  if (cell instanceof ShownNumber) {
    // Read as an amount, such a text would be another number than the cell holds.
    return !cell.isSame && NUMBER.test(cell.text) ? `${UNKNOWN} ${cell.text}` : cell.text;
  }
  // Its last digits may be cut, and as a text they would count. From 1e21 on the text has an exponent, which tells.
  if (typeof cell === 'number' && cell >= MAX_EXACT && cell < 1e21) return `${UNKNOWN} ${cell}`;
  if (typeof cell === 'object') return JSON.stringify(cell);
  const text = String(cell);
  return typeof cell === 'number' && AMBIGUOUS_NUMBER.test(text) ? `${text}0` : text;
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
