/**
 * The sealed sessions of providers that wait for the person (docs/income.md, "Sources"): reads and writes
 * `income_steps`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

/** The identity that the session of an application is sealed under. */
export function stepIdentity(id: ApplicationId | string): string {
  return `income step ${id}`;
}

const KEEP = `
  INSERT INTO income_steps (application_id, session, elapsed_ms)
  SELECT $1, $2, elapsed_ms() WHERE may_seal(get_byte($2, 0))
  ON CONFLICT (application_id) DO UPDATE SET session = excluded.session, elapsed_ms = excluded.elapsed_ms`;

/** Stores the session of an application in the place of an earlier one. Throws if its data key is retired. */
export async function keepStep(session: Session, id: ApplicationId, sealed: Buffer): Promise<void> {
  const { rowCount } = await session.query(KEEP, [id, sealed]);
  if (rowCount !== 1)
    throw new Error('a session of an income source is sealed with a data key that is retired');
}

const OF = 'SELECT session FROM income_steps WHERE application_id = $1';

/** The session of an application; null: no provider waits for the person. */
export async function stepOf(session: Session, id: ApplicationId): Promise<Buffer | null> {
  return (await session.query<{ session: Buffer }>(OF, [id])).rows[0]?.session ?? null;
}

const DROP = 'DELETE FROM income_steps WHERE application_id = ANY ($1::bigint[])';

/** Forgets the sessions of these applications. */
export async function dropSteps(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(DROP, [ids]);
}
