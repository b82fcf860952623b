/** Finds rows of a file again, to write them down: most submissions need none, so nothing is held for it. */

import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { type Inspected, isUnchanged } from '../read/inspect.ts';
import type { FileRow } from '../read/table.ts';

/** Reads a source's table once more, as far as it is asked. */
export class RowReader {
  readonly #source: Pick<Source, 'file' | 'table'>;
  #pieces: AsyncIterator<readonly FileRow[]> | null = null;
  #piece: readonly FileRow[] = [];
  /** The place of the piece's first row. */
  #start = 0;

  constructor(source: Pick<Source, 'file' | 'table'>) {
    this.#source = source;
  }

  /**
   * The row at a place, counted from 0, which has the given number; places only grow. Throws `BulkError` where the
   * file cannot be what it was.
   */
  async rowAt(place: number, number: number): Promise<FileRow> {
    this.#pieces ??= this.#source.table.rows()[Symbol.asyncIterator]();
    while (place >= this.#start + this.#piece.length) {
      this.#start += this.#piece.length;
      const { done, value } = await this.#pieces.next();
      if (done === true) throw changed(this.#source.file);
      this.#piece = value;
    }
    const row = this.#piece[place - this.#start] as FileRow;
    if (row.number !== number) throw changed(this.#source.file);
    return row;
  }

  /** Throws `BulkError` where the file is another by now, so that rows were read which are not those that were sent. */
  async verify(): Promise<void> {
    if (this.#pieces !== null && !(await isUnchanged(this.#source.file))) throw changed(this.#source.file);
  }

  /** Lets the file go. */
  async close(): Promise<void> {
    await this.#pieces?.return?.();
  }
}

function changed({ file }: Inspected): BulkError {
  return new BulkError(
    `${file}: it changed while it was sent, so the rows that were not taken cannot be written down. Put it back, and` +
      ' the same command writes them',
  );
}
