/**
 * Takes up due rows in one transaction. A row that makes the transaction fail is found, and set aside alone. Touches
 * the tables of the given statements. README.md has the rule.
 */
import {
  againAfterConflict,
  type Database,
  inTransaction,
  type Transaction,
} from '../../ground/postgres/database.ts';
import { isRowFault } from '../../ground/postgres/row-fault.ts';

/** The rules of one table. */
export interface TakingUp<Row, Taken> {
  /** The most rows of one transaction. */
  readonly most: number;
  /** Locks at most `limit` due rows, with SKIP LOCKED. */
  claim(session: Transaction, limit: number): Promise<readonly Row[]>;
  /** Decides on locked rows, at least one, and writes what becomes of them. It sends nothing. */
  decide(session: Transaction, rows: readonly [Row, ...Row[]]): Promise<Taken>;
  /** Makes a row wait or end because its own data makes `decide` fail. */
  setAside(row: Row, error: unknown): Promise<void>;
  /** Whether one row may have caused the failure. Without this function: `isRowFault`. */
  isOfRow?(error: unknown): boolean;
}

/** What one transaction took up. */
export interface TakenUp<Taken> {
  /** How many rows, including one that was set aside; 0: nothing is due. */
  readonly claimed: number;
  /** What `decide` returned; null: it decided on no row. */
  readonly taken: Taken | null;
}

/**
 * Claims rows and decides on them in one transaction of milliseconds: the rows are locked, and unlocked at once if this
 * process dies. What `decide` returns may be done when this resolves. If the data of a row makes `decide` fail, the
 * next claim takes half as many rows, until the bad one is alone and set aside; the others go on. If `stopping` aborts
 * before the commit, all is undone and this rejects.
 */
export async function takeUp<Row, Taken>(
  database: Database,
  { most, claim, decide, setAside, isOfRow = isRowFault }: TakingUp<Row, Taken>,
  stopping?: AbortSignal,
): Promise<TakenUp<Taken>> {
  let rows: readonly Row[] = [];
  const together = async (session: Transaction, limit: number) => {
    rows = [];
    rows = await claim(session, limit);
    const [row, ...others] = rows;
    const taken = row === undefined ? null : await decide(session, [row, ...others]);
    stopping?.throwIfAborted();
    return { claimed: rows.length, taken };
  };
  for (let limit = most; ; limit = Math.ceil(rows.length / 2)) {
    try {
      return await againAfterConflict(() => inTransaction(database, (session) => together(session, limit)));
    } catch (error) {
      const [row] = rows;
      if (stopping?.aborted || row === undefined || !isOfRow(error)) throw error;
      if (rows.length > 1) continue;
      await setAside(row, error);
      return { claimed: 1, taken: null };
    }
  }
}
