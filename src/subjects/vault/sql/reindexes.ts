/** The reindex under way: reads and writes the one row of `reindexes` (docs/keys.md, "The index key"). */
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { ReindexStep } from '../../../seal/reindex.ts';

/** A reindex that has not ended. */
export interface Reindex {
  /** The fingerprints of the replaced index key, and of the one that is valid afterwards. */
  readonly fromKey: string;
  readonly toKey: string;
  /** The kind of indexes that is being made again, and where the next step begins. */
  readonly kind: string;
  readonly from: string;
  /** How many indexes were made again, and how many applications kept the earlier form. */
  readonly written: number;
  readonly unopened: number;
}

const READ = `
  SELECT replace(from_key::text, '-', '') AS "fromKey", replace(to_key::text, '-', '') AS "toKey", kind,
    step_from AS "from", written::float8 AS written, unopened::float8 AS unopened
  FROM reindexes`;
/** If another command is taking a step, the statement fails with the code 55P03. */
const LOCK = `${READ} FOR UPDATE NOWAIT`;
const BEGIN = "INSERT INTO reindexes (from_key, to_key, kind, step_from) VALUES ($1, $2, $3, '')";
const MOVE =
  'UPDATE reindexes SET kind = $1, step_from = $2, written = written + $3, unopened = unopened + $4';
const END = 'DELETE FROM reindexes';

/** The reindex under way; null: there is none. */
export async function readReindex(session: Session): Promise<Reindex | null> {
  return (await session.query<Reindex>(READ)).rows[0] ?? null;
}

/** The same, locked for the next step. Throws an error with the code 55P03 if another process takes that step. */
export async function lockReindex(session: Transaction): Promise<Reindex | null> {
  return (await session.query<Reindex>(LOCK)).rows[0] ?? null;
}

/** Begins a reindex with this kind of indexes. */
export async function beginReindex(
  session: Transaction,
  fromKey: string,
  toKey: string,
  kind: string,
): Promise<void> {
  await session.query(BEGIN, [fromKey, toKey, kind]);
}

/** Records a step in its own transaction: where the next one begins, and what this one has done. */
export async function moveReindex(
  session: Transaction,
  next: { readonly kind: string; readonly from: string },
  { written, unopened = 0 }: Pick<ReindexStep, 'written' | 'unopened'>,
): Promise<void> {
  await session.query(MOVE, [next.kind, next.from, written, unopened]);
}

/** Ends the reindex: deletes its row. */
export async function endReindex(session: Transaction): Promise<void> {
  await session.query(END);
}
