/**
 * Reads and deletes what became of attempts (docs/operators.md, "The endpoint"). `record_pushes` adds the rows.
 * Writes `push_attempts` by `forget_attempts`; reads it, `partner_events` and `partner_endpoints`.
 */
import type { PartnerEventType } from '../../../../domain/event/event.ts';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import type { PushAttemptResult, PushFailure } from '../rules/failures.ts';

/** An attempt as it is read. */
export interface StoredAttempt {
  /** The number of the event. */
  readonly number: number;
  /** When its result was recorded. */
  readonly at: Date;
  /** From 1. */
  readonly attempt: number;
  readonly result: PushAttemptResult;
  /** null without a failure. */
  readonly failure: PushFailure | null;
  /** null: the event was deleted for its age. */
  readonly applicationId: number | null;
  readonly type: PartnerEventType | null;
}

/** Served by the primary key; of one event it reads what is kept of the partner. */
const NEWEST = `
  SELECT a.number::float8, a.at, a.attempt::integer, a.result, a.failure, e.application_id::float8 AS "applicationId", e.type
  FROM (
    SELECT * FROM push_attempts a WHERE a.partner_id = $1 AND ($2::bigint IS NULL OR a.number = $2)
    ORDER BY a.at DESC, a.number DESC, a.attempt DESC LIMIT $3) AS a
  LEFT JOIN partner_events e ON e.partner_id = a.partner_id AND e.number = a.number
  ORDER BY a.at DESC, a.number DESC, a.attempt DESC`;

/** The newest attempts of a partner, newest first; `number`: those of one event alone. */
export async function readAttempts(
  database: Database,
  partnerId: PartnerId,
  { number, limit }: { readonly number: number | null; readonly limit: number },
): Promise<StoredAttempt[]> {
  const { rows } = await database.query<StoredAttempt & Record<string, unknown>>(NEWEST, [
    ...[partnerId, number, limit],
  ]);
  return rows;
}

const FAILURES = `
  SELECT DISTINCT ON (a.number) a.number::float8, a.failure FROM push_attempts a
  WHERE a.partner_id = $1 AND a.number = ANY ($2::bigint[]) AND a.failure IS NOT NULL
  ORDER BY a.number, a.at DESC`;

/** Why the last attempt of each of these events failed, where that is kept. */
export async function readLastFailures(
  database: Database,
  partnerId: PartnerId,
  numbers: readonly number[],
): Promise<Map<number, PushFailure>> {
  const { rows } = await database.query<{ number: number; failure: PushFailure }>(FAILURES, [
    ...[partnerId, numbers],
  ]);
  return new Map(rows.map(({ number, failure }) => [number, failure]));
}

/** Of a partner so many stay, if they are not older than seven days. */
export const MOST_KEPT = 10_000;
/** Other work waits for no more rows of one statement. */
const AT_ONCE = 5_000;

/** Deletes the attempts of each partner that are too old or too many. Any number of processes may do this at once. */
export async function forgetAttempts(database: Database, most = MOST_KEPT): Promise<void> {
  const { rows } = await database.query<{ id: PartnerId }>(
    'SELECT partner_id AS id FROM partner_endpoints ORDER BY partner_id',
  );
  for (const { id } of rows) {
    for (;;) {
      const forgotten = await database.query<{ count: number }>(
        'SELECT forget_attempts($1, $2, $3)::float8 AS count',
        [id, most, AT_ONCE],
      );
      if ((forgotten.rows[0]?.count ?? 0) < AT_ONCE) break;
    }
  }
}
