/**
 * The history of the troubles (docs/monitoring.md, "The history of troubles"). Writes `trouble_looks`, and `troubles`
 * by the function of `sql/functions/monitoring/troubles.sql`.
 */
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Trouble } from '../rules/trouble.ts';

/** The upkeep of each process comes every 15 seconds. A clock that stepped back does not stop the looks. */
const TAKE = `
  UPDATE trouble_looks SET looked_at = now() WHERE is_only = (
    SELECT l.is_only FROM trouble_looks l WHERE l.looked_at NOT BETWEEN now() - interval '10 seconds' AND now()
    FOR UPDATE SKIP LOCKED)`;

/**
 * Takes the look of these seconds: no other process looks before the end of the transaction. False: one does, or has
 * just done so.
 */
export async function takeLook(session: Transaction): Promise<boolean> {
  return (await session.query(TAKE)).rowCount === 1;
}

export interface BegunTrouble extends Trouble {
  /** Where the trouble is new, it began then, by the database's clock. */
  readonly beganAt: Date;
}

/** Notes which troubles stand; all others have ended. */
export async function noteStanding(session: Transaction, troubles: readonly BegunTrouble[]): Promise<void> {
  await session.query('SELECT note_troubles($1::text[], $2::text[], $3::timestamptz[])', [
    troubles.map(({ code }) => code),
    troubles.map(({ text }) => text),
    troubles.map(({ beganAt }) => beganAt),
  ]);
}

const STANDING = 'SELECT t.code, t.began_at AS "beganAt" FROM troubles t WHERE t.ended_at IS NULL';

/** Since when the troubles stand that the last look found, by code. */
export async function readStanding(session: Session): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await session.query<{ code: string; beganAt: Date }>(STANDING);
  return new Map(rows.map(({ code, beganAt }) => [code, beganAt]));
}

/** A trouble that has ended. */
export interface EndedTrouble {
  readonly id: number;
  readonly code: string;
  readonly text: string;
  readonly beganAt: Date;
  readonly endedAt: Date;
  /** How often it began. */
  readonly times: number;
}

const ENDED = `
  SELECT t.id::float8, t.code, t.text, t.began_at AS "beganAt", t.ended_at AS "endedAt", t.times
  FROM troubles t WHERE t.ended_at IS NOT NULL AND ($1::bigint IS NULL OR t.id < $1) ORDER BY t.id DESC LIMIT $2`;

/** The troubles that have ended, in the order in which they began, the newest first. null: from the beginning. */
export async function readEnded(
  session: Session,
  before: number | null,
  limit: number,
): Promise<EndedTrouble[]> {
  return (await session.query<EndedTrouble & Record<string, unknown>>(ENDED, [before, limit])).rows;
}
