/** The statement that records an applicant's interest. */
import { toBigint } from '../../storage/blind-indexes.ts';
import type { Database } from '../../storage/database.ts';

/** An applicant's tap of "I am interested". */
export interface InterestTap {
  readonly applicationId: number;
  /** Blind index of who tapped. */
  readonly phoneIndex: string;
  /** Blind index. */
  readonly contextMessageId: string | null;
  readonly at: Date;
}

/** Of two at once the second waits for the first, and then finds the time set. The messages by key, not all of them. */
const RECORD_INTEREST = `
  WITH tapped AS (
    SELECT DISTINCT ON (t.application_id) t.application_id, t.at, a.status
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
      AS t(application_id, phone_index, context_id, at)
    JOIN messages m ON m.application_id = t.application_id AND m.batch_id = t.application_id >> 7
    JOIN applications_of($1::bigint[]) a ON a.id = t.application_id
    WHERE m.application_id = ANY ($1::bigint[]) AND m.batch_id = ANY (ARRAY(SELECT id >> 7 FROM unnest($1::bigint[]) AS id))
      AND a.interested_at IS NULL AND (a.phone_index = t.phone_index OR m.channel_message_id = t.context_id)
    ORDER BY t.application_id, t.at
  ), noted AS (
    INSERT INTO application_states AS s (batch_id, application_id, status, interested_at)
    SELECT application_id >> 7, application_id, status, least(at, now()) FROM tapped ORDER BY application_id
    ON CONFLICT (batch_id, application_id)
    DO UPDATE SET interested_at = excluded.interested_at WHERE s.interested_at IS NULL
    RETURNING application_id, status, interested_at
  )
  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
  SELECT application_id, interested_at, 'applicant', 'interested', status, status, $5 FROM noted ORDER BY application_id`;

/**
 * Records the first interest of each application, where the tap comes from the phone that its message went to
 * or names that message. How many applications it was new for.
 */
export async function recordInterest(
  database: Database,
  taps: readonly InterestTap[],
  reason: string,
): Promise<number> {
  if (taps.length === 0) return 0;
  const { rowCount } = await database.query(RECORD_INTEREST, [
    taps.map(({ applicationId }) => applicationId),
    taps.map(({ phoneIndex }) => toBigint(phoneIndex)),
    taps.map(({ contextMessageId }) => contextMessageId && toBigint(contextMessageId)),
    taps.map(({ at }) => at),
    reason,
  ]);
  return rowCount ?? 0;
}
