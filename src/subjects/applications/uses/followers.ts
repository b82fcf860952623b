/**
 * Deletes what other subjects have about applications that are gone (ARCHITECTURE, "Upkeep"; docs/upkeep.md). Reads the
 * tables of the given followers and `applications_of`; the followers delete their own rows.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { type Database, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { stillThere } from '../sql/erasure.ts';

/** A table whose rows go with their applications. */
export interface Follower {
  /** It has an index that begins with `application_id`. */
  readonly table: string;
  /** The rows are also deleted if the applicant is erased. */
  readonly orErased?: true;
  /** Deletes the rows of these applications. */
  readonly forget: (session: Transaction, gone: readonly ApplicationId[]) => Promise<unknown>;
}

/** Applications that one turn looks at: a million of them are looked at within a day. */
const TURN = 5_000;
/** Applications of one transaction. */
const AT_ONCE = 500;

/** Makes the work of a job, which looks at the next applications of each table. A process begins with a new round. */
export function following(
  followers: readonly Follower[],
): (context: { database: Database }) => Promise<void> {
  const after = new Map<string, string>();
  return async ({ database }) => {
    for (const follower of followers) {
      const { table } = follower;
      after.set(table, await follow(database, follower, after.get(table) ?? '0'));
    }
  };
}

/** Resolves to the application after which the next turn goes on; '0': a new round begins. */
async function follow(
  database: Database,
  { table, orErased, forget }: Follower,
  after: string,
): Promise<string> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT DISTINCT application_id AS id FROM ${table} WHERE application_id > $1
    ORDER BY application_id LIMIT ${TURN}`,
    [after],
  );
  const ids = rows.map(({ id }) => toApplicationId(id));
  // A separate statement, because on a cluster a statement about a table of the coordinator may not ask other machines.
  const there = new Set(await stillThere(database, ids, orErased ? undefined : 'also erased'));
  const gone = ids.filter((id) => !there.has(id));
  for (let start = 0; start < gone.length; start += AT_ONCE) {
    const some = gone.slice(start, start + AT_ONCE);
    await inTransaction(database, (session) => forget(session, some));
  }
  return rows.length < TURN ? '0' : rows.at(-1)!.id;
}
