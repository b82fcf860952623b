/** Counts the messages that are on no phone, for the simulator's page. */
import { MESSAGE_ID_RANGES } from '../../domain/application/ids.ts';
import type { MessageStatus } from '../../domain/message/notify.ts';
import type { MessageReason } from '../../domain/message/reasons.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { countMessages } from '../messages/sql/message-counts.ts';
import { FIRST_AFTER_REVIEW, recentMessagesFrom } from './newest-ids.ts';

const ABSENT = ['queued', 'sending', 'failed', 'uncertain', 'cancelled'] as const;

/** Messages that are on no phone, by status and reason. */
export interface AbsentMessages {
  readonly status: (typeof ABSENT)[number];
  /** A code; null if there is none, or for older messages. */
  readonly reason: MessageReason | null;
  readonly count: number;
  /** When the first of the queued messages is due; null for other statuses and for older messages. */
  readonly dueAt: Date | null;
  /** True for the messages that are too old to be told apart by reason. */
  readonly isOlder: boolean;
}

interface NewestCount extends Pick<AbsentMessages, 'reason' | 'count' | 'dueAt'> {
  readonly status: MessageStatus;
  /** No message is older than those that were counted. */
  readonly isAll: boolean;
}

/** Of the registrations' messages, and of those after reviews: the newest $1 of each. */
const COUNT_NEWEST = `
  WITH newest AS MATERIALIZED (
    SELECT * FROM newest_messages($2, ${FIRST_AFTER_REVIEW}, $1::integer)
    UNION ALL SELECT * FROM newest_messages(${FIRST_AFTER_REVIEW}, ${MESSAGE_ID_RANGES[0]!.before}, $1::integer)
  )
  SELECT status, reason, count(*)::integer AS count,
    CASE WHEN status = 'queued' THEN min(due_at) END AS "dueAt",
    (SELECT count(*) FILTER (WHERE message_id < ${FIRST_AFTER_REVIEW}) < $1::integer
        AND count(*) FILTER (WHERE message_id >= ${FIRST_AFTER_REVIEW}) < $1::integer FROM newest) AS "isAll"
  FROM newest
  GROUP BY status, reason ORDER BY status, reason`;

/**
 * Counts the messages that are on no phone: the newest `limit` messages of registrations and as many after reviews by
 * status and reason, and all older ones by status. The counts of a status add up to its exact number.
 */
export async function countAbsentMessages(database: Database, limit: number): Promise<AbsentMessages[]> {
  const from = await recentMessagesFrom(database);
  const { rows } = await database.query<NewestCount>(COUNT_NEWEST, [limit, from]);
  const isAll = from === '0' && rows.every((row) => row.isAll);
  const totals = isAll ? [] : await countMessages(database);
  return ABSENT.flatMap((status) => {
    const newest = rows.filter((row) => row.status === status);
    const total = totals.find((one) => one.status === status)?.count ?? 0;
    const older = total - sumOf(newest);
    return [
      ...newest.map(({ reason, count, dueAt }) => ({ status, reason, count, dueAt, isOlder: false })),
      ...(older > 0 ? [{ status, reason: null, count: older, dueAt: null, isOlder: true }] : []),
    ];
  });
}

function sumOf(rows: readonly NewestCount[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
