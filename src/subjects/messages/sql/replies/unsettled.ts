/**
 * Replies that wait or may not have arrived, and what operators do with the latter: send again, or cancel
 * (docs/messages.md, "Replies"). Reads and writes `replies`.
 */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../../domain/message/notify.ts';
import type { MessageReason } from '../../../../domain/message/reasons.ts';
import type { Session, Transaction } from '../../../../ground/postgres/database.ts';

/** A reply that has not ended. */
export interface UnsettledReply {
  readonly applicationId: ApplicationId;
  readonly turn: number;
  readonly status: MessageStatus;
  readonly reason: MessageReason | null;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly changedAt: Date;
  /** Until then the channel takes the reply. */
  readonly windowUntil: Date;
}

const COLUMNS = `id, application_id::float8 AS "applicationId", turn, status, reason, attempts, created_at AS "createdAt",
  changed_at AS "changedAt", window_until AS "windowUntil"`;
const CHUNK = 1_000;
/**
 * After its window an uncertain reply cannot be sent again, so it is not listed; the conversation has reminded by then.
 */
const UNSETTLED = `
  SELECT * FROM (
    SELECT ${COLUMNS} FROM replies WHERE status IN ('queued', 'sending')
    UNION ALL SELECT ${COLUMNS} FROM replies WHERE status = 'uncertain' AND window_until > now()) AS r
  WHERE r.id > $1 ORDER BY r.id LIMIT ${CHUNK}`;

/** The replies that wait, are on their way or may not have arrived, the oldest first, in bounded memory. */
export async function* readUnsettled(session: Session): AsyncGenerator<UnsettledReply, void, undefined> {
  type Row = UnsettledReply & { readonly id: string };
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const { rows }: { rows: Row[] } = await session.query<Row>(UNSETTLED, [after]);
    yield* rows;
    after = rows.length === CHUNK ? rows.at(-1)?.id : undefined;
  }
}

const LOCK = `SELECT ${COLUMNS} FROM replies WHERE application_id = $1 ORDER BY id FOR NO KEY UPDATE`;

/** Locks the replies of an application, in the order of their turns. */
export async function lockRepliesOf(
  session: Transaction,
  applicationId: ApplicationId,
): Promise<UnsettledReply[]> {
  const { rows } = await session.query<UnsettledReply>(LOCK, [applicationId]);
  return rows.toSorted((one, other) => one.turn - other.turn);
}

const RETRY = `
  UPDATE replies SET status = 'queued', reason = NULL, due_at = now(), changed_at = now()
  WHERE application_id = $1 AND turn = $2 AND status = 'uncertain' AND window_until > now()
    AND NOT never_again`;

/**
 * Queues an uncertain reply once more, while the channel takes it. False if it is not uncertain, or if the phone is a
 * wrong person's.
 */
export async function queueAgain(
  session: Transaction,
  applicationId: ApplicationId,
  turn: number,
): Promise<boolean> {
  return (await session.query(RETRY, [applicationId, turn])).rowCount === 1;
}

const CANCEL = `
  UPDATE replies SET status = 'cancelled', reason = 'operator', changed_at = now()
  WHERE application_id = $1 AND turn < $2 AND status = 'uncertain'`;

/** Cancels the uncertain replies of an application before a turn. Returns how many. */
export async function cancelUncertain(
  session: Transaction,
  applicationId: ApplicationId,
  before: number,
): Promise<number> {
  return (await session.query(CANCEL, [applicationId, before])).rowCount ?? 0;
}
