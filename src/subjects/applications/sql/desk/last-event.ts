/**
 * Reads the last event of an application, which an operator's act names as the state that it decided on (D48;
 * docs/operators.md, "The operator API"). Reads `application_events` and `applications_of`.
 */
import { type ApplicationId, toApplicationId } from '../../../../domain/application/ids.ts';
import type { Session } from '../../../../ground/postgres/database.ts';

const LAST = `
  SELECT coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = a.id), 0)::text AS last
  FROM applications_of(ARRAY[$1::bigint]) AS a`;

/**
 * The number of the last event, as a decimal text; `0` if nothing has happened since the registration, and null if
 * there is no such application.
 */
export async function lastEventOf(session: Session, id: ApplicationId): Promise<string | null> {
  return (await session.query<{ last: string }>(LAST, [id])).rows[0]?.last ?? null;
}

const LAST_OF_EACH = `
  SELECT u.id, coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = u.id), 0)::text AS last
  FROM unnest($1::bigint[]) AS u(id)`;

/**
 * The number of the last event of each application, as `lastEventOf`, but without a look whether the application
 * exists.
 */
export async function lastEventsOf(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, string>> {
  const { rows } = await session.query<{ id: string; last: string }>(LAST_OF_EACH, [ids]);
  return new Map(rows.map(({ id, last }) => [toApplicationId(id), last]));
}

/** What happened to an application last. */
export interface LastChange {
  readonly actor: string;
  readonly act: string;
  readonly at: Date;
}

const CHANGE = `
  SELECT e.actor, e.action AS act, e.at FROM application_events e WHERE e.application_id = $1 ORDER BY e.id DESC LIMIT 1`;

/** The last event of an application; null: nothing has happened since the registration. */
export async function lastChangeOf(session: Session, id: ApplicationId): Promise<LastChange | null> {
  return (await session.query<LastChange>(CHANGE, [id])).rows[0] ?? null;
}
