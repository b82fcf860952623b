/** Finds rows of a table again, to write them down: most submissions need none, so nothing is held for it. */
import { BulkError } from './problem.ts';
import type { Row, Table } from './table.ts';

/** Reads a table once more, as far as it is asked. */
export class RowReader {
  readonly #table: Table;
  #pieces: AsyncIterator<readonly Row[]> | null = null;
  #piece: readonly Row[] = [];
  /** The place of the piece's first row. */
  #start = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The row at a place, counted from 0; places only grow. Throws `BulkError` where the file is another by now. */
  async at(place: number): Promise<Row> {
    this.#pieces ??= this.#table.rows()[Symbol.asyncIterator]();
    while (place >= this.#start + this.#piece.length) {
      this.#start += this.#piece.length;
      const { done, value } = await this.#pieces.next();
      if (done === true) throw new BulkError('the file changed while it was read');
      this.#piece = value;
    }
    return this.#piece[place - this.#start] as Row;
  }

  /** Lets the file go. */
  async close(): Promise<void> {
    await this.#pieces?.return?.();
  }
}
