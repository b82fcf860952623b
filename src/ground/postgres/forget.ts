/**
 * Deletes the rows of a table that were kept for long enough. Any table that declares `kept` (`table.ts`).
 * docs/upkeep.md says how long each table's rows are kept.
 */
import type { Database } from './database.ts';
import type { Kept, Table } from './table.ts';

/** The rows of one statement: other work waits for no more of them. */
const AT_ONCE = 5_000;

/**
 * The statement that deletes some of the rows whose time is over. It skips rows that another session has locked; the
 * next turn deletes those.
 */
export function forgetStatement({ name, kept: { until, by, isFixed } }: KeptTable): string {
  const order = typeof by === 'string' ? `ORDER BY ${by} ` : '';
  const lock = isFixed ? '' : ' FOR UPDATE SKIP LOCKED';
  return `
    DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${name} WHERE ${until} ${order}LIMIT ${AT_ONCE}${lock}))`;
}

export type KeptTable = Pick<Table, 'name'> & { readonly kept: Kept };

/**
 * Deletes the rows of a table whose time is over. Any number of processes may do this at once. Resolves to how many.
 */
export async function forgetRows(database: Database, table: KeptTable): Promise<number> {
  const text = forgetStatement(table);
  for (let forgotten = 0; ; ) {
    const { rowCount } = await database.query(text);
    forgotten += rowCount ?? 0;
    if ((rowCount ?? 0) < AT_ONCE) return forgotten;
  }
}
