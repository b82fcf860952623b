/** Records that applicants are interested (docs/messages.md, "Interest"; D41). Calls `record_interest`. */
import { type ApplicationId, type BlindIndex, messageIdsOf } from '../../../domain/application/ids.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';

/** An applicant's tap of "I am interested". */
export interface InterestTap {
  readonly applicationId: ApplicationId;
  /** The blind index of the phone that tapped; null: it is unknown. */
  readonly phoneIndex: BlindIndex<'phone'> | null;
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
  readonly at: Date;
}

const REASON = 'tapped "I am interested"';

const MESSAGES = 'SELECT application_id AS id, channel_message_id AS index FROM messages_of($1)';

/** The messages are read first, because on a cluster a statement that writes may not ask other machines. */
const RECORD = 'SELECT record_interest($1, $2, $3, $4, $5, $6, $7) AS count';

/**
 * Records the first interest of each application, and tells the partners with events (D41). A tap counts if it comes
 * from the phone that the application's messages go to, or if it names one of these messages. Returns for how many
 * applications the interest is new.
 */
export async function recordInterest(database: Database, taps: readonly InterestTap[]): Promise<number> {
  if (taps.length === 0) return 0;
  const ids = taps.map(({ applicationId }) => applicationId);
  const values = [ids.flatMap(messageIdsOf)];
  const { rows } = await database.query<{ id: string; index: string | null }>(MESSAGES, values);
  if (rows.length === 0) return 0;
  const recorded = await database.query<{ count: number }>(RECORD, [
    ids,
    taps.map(({ phoneIndex }) => phoneIndex && toBigint(phoneIndex)),
    taps.map(({ contextIndex }) => contextIndex && toBigint(contextIndex)),
    taps.map(({ at }) => at),
    REASON,
    rows.map(({ id }) => id),
    rows.map(({ index }) => index),
  ]);
  return recorded.rows[0]?.count ?? 0;
}
