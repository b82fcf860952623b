/**
 * Marks claimed replies as sending, and records what became of them (docs/messages.md, "Replies"). Writes `replies`.
 */
import type { BlindIndex } from '../../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../../domain/message/notify.ts';
import type { MessageReason } from '../../../../domain/message/reasons.ts';
import type { ReplyId } from '../../../../domain/message/reply.ts';
import { columnsOf } from '../../../../ground/postgres/columns.ts';
import type { Database, Transaction } from '../../../../ground/postgres/database.ts';
import { toBigint } from '../../../../seal/blind-indexes.ts';
import type { HealthSignal, ResultMove } from '../../rules/after-send.ts';

const BEGIN = "SELECT id FROM begin_replies($1, $2, $3 * interval '1 millisecond') AS id";

/**
 * Decides which of these claimed replies go out now, marks them as sending and returns them. A reply becomes uncertain
 * if its result is not recorded within `answerWithinMs`. Send nothing before the claim has committed.
 */
export async function beginReplies(
  claim: Transaction,
  replyIds: readonly ReplyId[],
  messagesPerSecond: number | null,
  answerWithinMs: number,
): Promise<ReadonlySet<ReplyId>> {
  if (replyIds.length === 0) return new Set();
  const { rows } = await claim.query<{ id: ReplyId }>({
    name: 'begin_replies',
    text: BEGIN,
    values: [replyIds, messagesPerSecond, answerWithinMs],
  });
  return new Set(rows.map(({ id }) => id));
}

/** What becomes of a reply after an attempt, or without one. */
export interface ReplyMove extends Omit<ResultMove, 'status'> {
  readonly replyId: ReplyId;
  /** The number of the last attempt. */
  readonly attempt: number;
  readonly status: MessageStatus;
  readonly channelIndex: BlindIndex<'channel_message_id'> | null;
}

/** The result of a send, with what it says about the channel. */
export interface ReplyResult extends ReplyMove {
  readonly signal: HealthSignal;
}

const RECORD = 'SELECT record_replies($1::message_status[], $2, $3, $4::message_status[], $5, $6, $7)';

/** Records moves. A reply in another status than those in `from`, or in another attempt, stays as it is. */
async function record(
  session: Pick<Database, 'query'>,
  from: readonly MessageStatus[],
  moves: readonly ReplyMove[],
): Promise<void> {
  if (moves.length === 0) return;
  await session.query({
    name: 'record_replies',
    text: RECORD,
    values: [
      from,
      ...columnsOf(moves, 'replyId', 'attempt', 'status'),
      moves.map(({ channelIndex }) => channelIndex && toBigint(channelIndex)),
      ...columnsOf(moves, 'reason', 'afterMs'),
    ],
  });
}

/** Records the results of sends. */
export function recordReplyResults(database: Database, results: readonly ReplyResult[]): Promise<void> {
  return record(database, ['sending', 'uncertain'], results);
}

/** Puts off or ends claimed replies that do not go out now. */
export function holdReplies(claim: Transaction, moves: readonly ReplyMove[]): Promise<void> {
  return record(claim, ['queued'], moves);
}

const GIVE_UP = `
  UPDATE replies SET status = 'failed', reason = $2, changed_at = now()
  WHERE id = $1 AND status = 'queued' AND window_until <= now()`;
const SET_ASIDE = `
  UPDATE replies SET reason = $2, changed_at = now(), due_at = now() + $3 * interval '1 millisecond'
  WHERE id = $1 AND status = 'queued'`;

/**
 * Sets a reply aside that stops the others: it waits, because its fault may pass, and fails at the end of the channel's
 * window.
 */
export async function setReplyAside(
  database: Database,
  replyId: ReplyId,
  reason: MessageReason,
  afterMs: number,
): Promise<void> {
  const { rowCount } = await database.query(GIVE_UP, [replyId, reason]);
  if (rowCount === 0) await database.query(SET_ASIDE, [replyId, reason, afterMs]);
}

const LOST = 'SELECT settle_lost_replies() AS count';
const MEND = 'SELECT mend_replies() AS count';
/** The most rows that one call of either function changes. */
const CHUNK = 1_000;

/** Makes those replies uncertain whose process died between sending and recording. */
export function findLostReplies(database: Database): Promise<void> {
  return inChunks(database, LOST);
}

/** Corrects those times of waiting replies that were written while the database's clock was ahead. */
export function mendReplies(database: Database): Promise<void> {
  return inChunks(database, MEND);
}

async function inChunks(database: Database, text: string): Promise<void> {
  while (Number((await database.query<{ count: string }>(text)).rows[0]?.count) === CHUNK);
}
