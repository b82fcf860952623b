/** The sessions of income sources that wait for the person, sealed. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';

/** What the session of an application is sealed under. */
export function stepIdentity(id: ApplicationId | string): string {
  return `income step ${id}`;
}

const KEEP = `
  INSERT INTO income_steps (application_id, session, elapsed_ms)
  SELECT $1, $2, elapsed_ms() WHERE may_seal(get_byte($2, 0))
  ON CONFLICT (application_id) DO UPDATE SET session = excluded.session, elapsed_ms = excluded.elapsed_ms`;

/** Keeps the session of an application in the place of an earlier one. Throws where its data key is retired. */
export async function keepStep(session: Session, id: ApplicationId, sealed: Buffer): Promise<void> {
  const { rowCount } = await session.query(KEEP, [id, sealed]);
  if (rowCount !== 1)
    throw new Error('a session of an income source is sealed with a data key that is retired');
}

const OF = 'SELECT session FROM income_steps WHERE application_id = $1';

/** The session of an application; null: no source waits for the person. */
export async function stepOf(session: Session, id: ApplicationId): Promise<Buffer | null> {
  return (await session.query<{ session: Buffer }>(OF, [id])).rows[0]?.session ?? null;
}

const DROP = 'DELETE FROM income_steps WHERE application_id = ANY ($1::bigint[])';

/** Forgets the sessions of these applications. */
export async function dropSteps(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(DROP, [ids]);
}

const FORGET = "DELETE FROM income_steps WHERE elapsed_ms < elapsed_ms() - ms_of(interval '30 days')";

/** Forgets the sessions that nobody has answered for 30 elapsed days. */
export async function forgetSteps(session: Session): Promise<void> {
  await session.query(FORGET);
}

/** The sessions, as a kind of what data keys seal. */
export const INCOME_STEPS = sealedRows({
  name: 'sessions of income sources',
  identity: stepIdentity,
  some: `
    SELECT application_id AS name, session AS sealed FROM income_steps
    WHERE substring(session FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT application_id AS id, application_id AS name,
      CASE WHEN (substring(session FROM 1 FOR 1) = $2) = $3 THEN session END AS sealed
    FROM income_steps WHERE application_id > $1 ORDER BY application_id LIMIT ${PAGE}`,
  write: `
    UPDATE income_steps i SET session = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE i.application_id = g.id AND i.session = g.sealed AND may_seal($4) AND i.application_id = ANY (ARRAY(
      SELECT h.application_id FROM income_steps h WHERE h.application_id = ANY ($1::bigint[])
      ORDER BY h.application_id FOR NO KEY UPDATE))`,
});
