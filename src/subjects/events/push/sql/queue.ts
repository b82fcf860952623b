/**
 * What operators and the upkeep do with the queue of pushes: drop, correct times, queue again (README.md). Reads
 * `partner_events` and `partner_event_totals`, writes `pushes`.
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Database } from '../../../../ground/postgres/database.ts';

/** Most pushes that one statement changes. */
const CHUNK = 5_000;

const DROP = 'SELECT drop_pushes($1, $2) AS changed';
const MEND = 'SELECT mend_pushes($1) AS changed';

/** Deletes the pushes of disabled endpoints, of one partner or of all. */
export async function dropPushes(database: Database, partnerId: PartnerId | null = null): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ changed: number }>(DROP, [partnerId, CHUNK]);
    if ((rows[0]?.changed ?? 0) < CHUNK) return;
  }
}

/** Corrects the times that were written while the database's clock was ahead (D39). */
export async function mendPushes(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ changed: number }>(MEND, [CHUNK]);
    if ((rows[0]?.changed ?? 0) < CHUNK) return;
  }
}

const FIRST = `
  SELECT p.number::float8, p.application_id::float8 AS "applicationId", p.attempts::integer, p.due_at AS "dueAt",
    EXISTS (SELECT FROM pushes f WHERE f.partner_id = p.partner_id AND f.application_id = p.application_id
      AND f.number < p.number) AS "isBehind"
  FROM pushes p WHERE p.partner_id = $1 AND ($3::bigint IS NULL OR p.number = $3) ORDER BY p.number LIMIT $2`;

/** An event that waits for its push. */
export interface WaitingPush {
  readonly number: number;
  readonly applicationId: number;
  /** How many attempts were made. */
  readonly attempts: number;
  readonly dueAt: Date;
  /** An earlier event of its application waits too, and goes first. */
  readonly isBehind: boolean;
}

/** The first pushes of a partner that wait, or whose attempt is under way; `number`: that of one event alone. */
export async function readFirstPushes(
  database: Database,
  partnerId: PartnerId,
  limit: number,
  number: number | null = null,
): Promise<WaitingPush[]> {
  return (await database.query<WaitingPush & Record<string, unknown>>(FIRST, [partnerId, limit, number]))
    .rows;
}

const NEWEST = 'SELECT last FROM partner_event_totals WHERE partner_id = $1';
const RESEND = 'SELECT last, queued FROM resend_events($1, $2, $3, $4)';
const BEFORE = `
  SELECT min(number) - 1 AS after FROM partner_events WHERE partner_id = $1 AND at >= $2`;

/** Queues again the pushes of a partner's kept events after this number. Returns how many were not queued already. */
export async function resendEvents(database: Database, partnerId: PartnerId, after: number): Promise<number> {
  const { rows } = await database.query<{ last: string }>(NEWEST, [partnerId]);
  const until = rows[0]?.last ?? '0';
  let queued = 0;
  for (let last: string | null = `${after}`; last !== null; ) {
    const { rows }: { rows: { last: string | null; queued: string }[] } = await database.query(RESEND, [
      partnerId,
      last,
      until,
      CHUNK,
    ]);
    queued += Number(rows[0]?.queued ?? 0);
    last = rows[0]?.last ?? null;
  }
  return queued;
}

/** The number before the first event of this time or a later one; null if there is none. */
export async function numberBefore(
  database: Database,
  partnerId: PartnerId,
  since: Date,
): Promise<number | null> {
  const { rows } = await database.query<{ after: string | null }>(BEFORE, [partnerId, since]);
  const after = rows[0]?.after ?? null;
  return after === null ? null : Number(after);
}
