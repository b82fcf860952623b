/**
 * Walks over messages for lists, the newest application first, in bounded memory. Reads `outbox`, `leases`,
 * `waiting_messages` and `message_records`.
 */
import {
  type ApplicationId,
  firstMessageOf,
  MESSAGE_ID_RANGES,
  type MessageId,
} from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { partitionsDown } from '../../applications/sql/partition-runs.ts';
import { countOfStatus } from './message-counts.ts';
import { readMessagesById, readMessagesOf, readNewestMessages, type StoredMessage } from './messages.ts';
import { WAITING_STATUSES } from './waiting-messages.ts';

export interface MessageFilter {
  readonly applicationId?: ApplicationId | undefined;
  readonly status?: MessageStatus | undefined;
}

type Messages = AsyncGenerator<StoredMessage, void, undefined>;
type IdRange = (typeof MESSAGE_ID_RANGES)[number];

/** The most messages of one range of ids in memory at once. */
const CHUNK = 1_000;

/** The messages that fit the filter, newest application first; within an application the latest message first. */
export async function* readMessages(database: Database, { applicationId, status }: MessageFilter): Messages {
  if (applicationId !== undefined) {
    const messages = await readMessagesOf(database, applicationId);
    return yield* messages.filter((message) => status === undefined || message.status === status);
  }
  if (status === undefined) return yield* merged(MESSAGE_ID_RANGES.map((range) => walkAll(database, range)));
  const unfound = { count: await countOfStatus(database, status) };
  yield* merged(MESSAGE_ID_RANGES.map((range) => walkStatus(database, status, range, unfound)));
}

/** Merges walks, each of which gives its messages newest application first. */
async function* merged(walks: readonly Messages[]): Messages {
  const heads: { message: StoredMessage; walk: Messages }[] = [];
  // One after the other: a walk that has found all messages of a rare status saves the next walk its search.
  for (const walk of walks) {
    const { value: message } = await walk.next();
    if (message) heads.push({ message, walk });
  }
  while (heads.length > 0) {
    const newest = heads.reduce((best, head) =>
      head.message.applicationId > best.message.applicationId ? head : best,
    );
    yield newest.message;
    const { value: message } = await newest.walk.next();
    if (message) newest.message = message;
    else heads.splice(heads.indexOf(newest), 1);
  }
}

async function* walkAll(database: Database, range: IdRange): Messages {
  for await (const { from, before: end } of parts(database, range)) {
    for (let before: string | null = end; before !== null; ) {
      const messages: StoredMessage[] = await readNewestMessages(database, from, before, CHUNK);
      yield* messages;
      before = messages.length < CHUNK ? null : (messages.at(-1)?.id ?? null);
    }
  }
}

/** The parts of a range, each within one partition, newest first. Messages after reviews have one partition. */
async function* parts(database: Database, range: IdRange): AsyncGenerator<IdRange, void, undefined> {
  if (range.from !== '0') return yield range;
  for await (const { from, before } of partitionsDown(database)) {
    yield { from: firstMessageOf(from), before: firstMessageOf(before) };
  }
}

/**
 * The most rows that one statement looks at. Among millions, the search for a rare status would otherwise pass the
 * statement's time limit.
 */
const SCAN = 20_000;

const FOUND =
  "coalesce(array_agg(id ORDER BY id DESC), '{}')::text[] AS ids, min(id) AS last, count(*)::integer AS seen";

/** Waiting messages are found by their status. Messages in the outbox are all queued. */
const WALK_WAITING = `
  SELECT ${FOUND} FROM (
    (SELECT message_id AS id FROM waiting_messages
    WHERE status = $2 AND message_id >= $3 AND message_id < $1
    ORDER BY message_id DESC LIMIT ${CHUNK})
    UNION ALL
    (SELECT o.message_id FROM outbox_messages o
    WHERE $2 = 'queued'::message_status AND o.batch_id BETWEEN batch_of($3) AND batch_of($1)
      AND o.message_id >= $3 AND o.message_id < $1
    ORDER BY o.batch_id DESC, o.message_id DESC LIMIT ${CHUNK})
    ORDER BY 1 DESC LIMIT ${CHUNK}
  ) AS found`;

/** A message that is being sent has a lease. */
const WALK_SENDING = `
  SELECT ${FOUND} FROM (
    SELECT DISTINCT u.id FROM leases l, unnest(l.ids) AS u(id) WHERE u.id >= $3 AND u.id < $1
    ORDER BY u.id DESC LIMIT ${CHUNK}
  ) AS found
  WHERE $2 = 'sending'::message_status`;

/**
 * For the other statuses there is no index, because most messages pass through them, and an index would cost each of
 * them.
 */
const WALK_RECORDS = `
  SELECT coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE status = $2), '{}')::text[] AS ids,
    min(id) AS last, count(*)::integer AS seen
  FROM (
    SELECT message_id AS id, status FROM message_records
    WHERE message_id >= $3 AND message_id < $1
    ORDER BY message_id DESC LIMIT ${SCAN}
  ) AS found`;

function walkOf(status: MessageStatus): { text: string; step: number } {
  if (status === 'sending') return { text: WALK_SENDING, step: CHUNK };
  if (WAITING_STATUSES.includes(status)) return { text: WALK_WAITING, step: CHUNK };
  return { text: WALK_RECORDS, step: SCAN };
}

interface Page {
  readonly ids: readonly MessageId[];
  readonly last: string | null;
  readonly seen: number;
}

/** The messages of the range with this status. Stops when all walks together have found as many as the count says. */
async function* walkStatus(
  database: Database,
  status: MessageStatus,
  range: IdRange,
  unfound: { count: number },
): Messages {
  if (walkOf(status).text !== WALK_RECORDS) return yield* walkStatusIn(database, status, range, unfound);
  for await (const part of parts(database, range)) {
    if (unfound.count <= 0) return;
    yield* walkStatusIn(database, status, part, unfound);
  }
}

async function* walkStatusIn(
  database: Database,
  status: MessageStatus,
  { from, before: end }: IdRange,
  unfound: { count: number },
): Messages {
  const { text, step } = walkOf(status);
  for (let before: string | null = end; unfound.count > 0 && before !== null; ) {
    const page: { rows: Page[] } = await database.query(text, [before, status, from]);
    const { ids, last, seen } = page.rows[0] as Page;
    for (let start = 0; start < ids.length; start += CHUNK) {
      const messages = await readMessagesById(database, ids.slice(start, start + CHUNK));
      const fitting = messages.filter((message) => message.status === status);
      unfound.count -= fitting.length;
      yield* fitting;
    }
    if (seen < step) return;
    before = last;
  }
}
