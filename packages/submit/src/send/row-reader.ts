/**
 * Finds rows of a file again for the file of rejected rows. Most submissions reject few rows, so no row is kept for
 * it.
 */

import type { Source } from '../map/source.ts';
import { BulkError } from '../read/bulk-error.ts';
import { type Inspected, isUnchanged } from '../read/inspect.ts';
import type { FileRow } from '../read/table.ts';

/** Reads a source's table once more, as far as needed. */
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
   * The row at a place, counted from 0. Places must grow from call to call. Throws `BulkError` where the row does not
   * have the given number, because the file changed.
   */
  async rowAt(place: number, number: number): Promise<FileRow> {
    this.#pieces ??= this.#source.table.rows()[Symbol.asyncIterator]();
    while (place >= this.#start + this.#piece.length) {
      this.#start += this.#piece.length;
      const { done, value } = await this.#pieces.next();
      if (done === true) throw changed(this.#source.file);
      this.#piece = value;
    }
    const row = this.#piece[place - this.#start];
    if (row?.number !== number) throw changed(this.#source.file);
    return row;
  }

  /** Throws `BulkError` where the file changed, so that the rows read here may not be the rows sent. */
  async verify(): Promise<void> {
    if (this.#pieces !== null && !(await isUnchanged(this.#source.file))) throw changed(this.#source.file);
  }

  /** Closes the file. */
  async close(): Promise<void> {
    await this.#pieces?.return?.();
  }
}

function changed({ file }: Inspected): BulkError {
  return new BulkError({
    en: `${file}: it changed while it was sent, so the rows that were not taken cannot be written down. Restore the file and run the same command again, which writes them`,
    es: `${file}: cambió mientras se enviaba, y no se pueden anotar las filas que no se aceptaron. Restaura el archivo y ejecuta de nuevo el mismo comando, que las anota`,
  });
}
