/** The statements that record that applicants are interested. */
import { type ApplicationId, type BlindIndex, messageIdsOf } from '../../domain/application/ids.ts';
import { toBigint } from '../../storage/blind-indexes.ts';
import type { Database } from '../../storage/database.ts';

/** An applicant's tap of "I am interested". */
export interface InterestTap {
  readonly applicationId: ApplicationId;
  /** Blind index of the phone that tapped. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
  readonly at: Date;
}

interface MessageRow {
  application_id: string;
  channel_message_id: string | null;
}

/** The condition on the batches makes PostgreSQL read messages by key instead of all of them. */
const MESSAGES = `
  SELECT application_id, channel_message_id FROM messages
  WHERE message_id = ANY ($1::bigint[]) AND batch_id = ANY (ARRAY(SELECT id >> 7 FROM unnest($2::bigint[]) AS id))`;

/**
 * Of two statements at once the second one waits for the first, and then finds the time set. The messages are read
 * before, because on a cluster a statement about a table of the coordinator may not ask other machines.
 */
const RECORD_INTEREST = `
  WITH tapped AS (
    SELECT DISTINCT ON (t.application_id) t.application_id, t.at, a.status
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[])
      AS t(application_id, phone_index, context_id, at)
    JOIN unnest($6::bigint[], $7::bigint[]) AS m(application_id, channel_message_id) USING (application_id)
    JOIN applications_of($6::bigint[]) a ON a.id = t.application_id
    WHERE a.interested_at IS NULL AND (a.phone_index = t.phone_index OR m.channel_message_id = t.context_id)
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
 * Records the first interest of each application, if the tap comes from the phone that its messages go to, or names
 * one of them. Returns for how many applications the interest is new.
 */
export async function recordInterest(
  database: Database,
  taps: readonly InterestTap[],
  reason: string,
): Promise<number> {
  if (taps.length === 0) return 0;
  const ids = taps.map(({ applicationId }) => applicationId);
  const { rows } = await database.query<MessageRow>(MESSAGES, [ids.flatMap(messageIdsOf), ids]);
  if (rows.length === 0) return 0;
  const { rowCount } = await database.query(RECORD_INTEREST, [
    ids,
    taps.map(({ phoneIndex }) => toBigint(phoneIndex)),
    taps.map(({ contextIndex }) => contextIndex && toBigint(contextIndex)),
    taps.map(({ at }) => at),
    reason,
    rows.map((row) => row.application_id),
    rows.map((row) => row.channel_message_id),
  ]);
  return rowCount ?? 0;
}
