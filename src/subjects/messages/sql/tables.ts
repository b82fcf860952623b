/** The tables of messages: what is kept, sealed and deleted, when, and how a new index key changes them. */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { replyIdentity } from './replies.ts';

export const MESSAGE_COUNTS = {
  name: 'message_counts',
  person: { not: 'numbers by status' },
  fold: { job: 'fold message counts', key: ['status'], sums: ['count'] },
} satisfies Table;

/** An event that finds no message within an hour is about a message that this service did not send. */
export const EARLY_EVENTS = {
  name: 'early_events',
  person: 'blind index',
  kept: { job: 'forget early events', until: aged('came_ms', "interval '1 hour'"), by: 'came_ms' },
  indexes: [{ column: 'channel_message_id' }, { column: 'user_index' }],
} satisfies Table;

/** If two phones become one, the phone is suppressed if one of them was. */
const MOVE_SUPPRESSIONS = [
  `INSERT INTO suppressions AS t (phone_index, active, source, created_at, changed_at, stopped_at, resumed_at, lifted_at,
    lifted_stop, heard_ms)
  SELECT DISTINCT ON (g.after) g.after, s.active, s.source, s.created_at, s.changed_at, s.stopped_at, s.resumed_at,
    s.lifted_at, s.lifted_stop, s.heard_ms
  FROM suppressions s JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON s.phone_index = g.before
  ORDER BY g.after, s.active DESC, s.created_at DESC
  ON CONFLICT (phone_index) DO UPDATE SET active = true, source = excluded.source, created_at = excluded.created_at,
    changed_at = excluded.changed_at, stopped_at = greatest(t.stopped_at, excluded.stopped_at)
  WHERE excluded.active AND NOT t.active`,
  `DELETE FROM suppressions s USING unnest($1::bigint[], $2::bigint[]) AS g(before, after)
  WHERE s.phone_index = g.before`,
];

const LIFTS_KEPT = "interval '30 days'";
/** If a phone is not suppressed and its last change is this long ago, no older event can still come. */
export const SUPPRESSIONS = {
  name: 'suppressions',
  person: 'blind index',
  kept: {
    job: 'forget lifts',
    until: `NOT active AND greatest(changed_at, stopped_at, resumed_at) < now() - ${LIFTS_KEPT}
      AND ${aged('heard_ms', LIFTS_KEPT)}`,
    by: { scan: 'a row a phone that was suppressed' },
  },
  indexes: [{ column: 'phone_index', isUnique: true, moves: MOVE_SUPPRESSIONS }],
} satisfies Table;

/** What an operator imports again, and a number that stays under its old index is gone with the next import. */
const MOVE_EXCLUDED = `
  INSERT INTO excluded_numbers (phone_index, register_id, import, listed_at)
  SELECT g.after, x.register_id, max(x.import), min(x.listed_at)
  FROM excluded_numbers x JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON x.phone_index = g.before
  GROUP BY g.after, x.register_id ON CONFLICT DO NOTHING`;
const EXCLUDED_NUMBERS = {
  name: 'excluded_numbers',
  person: 'blind index',
  indexes: [{ column: 'phone_index', moves: [MOVE_EXCLUDED] }],
} satisfies Table;

/** A row that stays under the old index is deleted by the upkeep a day later. */
const MOVE_RECIPIENTS = `
  UPDATE recipients t SET phone_index = g.after
  FROM (SELECT DISTINCT ON (u.after) u.before, u.after FROM unnest($1::bigint[], $2::bigint[]) AS u(before, after)
    ORDER BY u.after, u.before) AS g
  WHERE t.phone_index = g.before AND NOT EXISTS (SELECT FROM recipients o WHERE o.phone_index = g.after)`;

/** Persons about whom the channel has told nothing for a year are deleted. */
export const CHANNEL_USERS = {
  name: 'channel_users',
  person: 'blind index',
  kept: {
    job: 'forget persons at the channel',
    until: aged('heard_ms', "interval '365 days'"),
    by: 'heard_ms',
  },
  indexes: [
    { column: 'user_index', isUnique: true },
    { column: 'phone_index', moves: 'as replaced' },
  ],
} satisfies Table;

export const REPLIES = {
  name: 'replies',
  person: 'application',
  sealed: {
    column: 'content',
    kind: 'replies',
    id: 'id',
    under: ['application_id', 'turn'],
    identity: replyIdentity,
  },
  indexes: [{ column: 'phone_index', moves: 'as replaced' }, { column: 'channel_message_id' }],
} satisfies Table;

export const TABLES: readonly Table[] = [
  { name: 'outbox', person: 'application' },
  {
    name: 'waiting_rejections',
    person: 'blind index',
    indexes: [{ column: 'phone_index', moves: 'as replaced' }],
  },
  { name: 'leases', person: 'application' },
  // Their indexes are made again by partition: `reindex.ts`.
  { name: 'message_records', person: 'application' },
  { name: 'message_records_after_reviews', person: 'application' },
  { name: 'waiting_messages', person: 'application' },
  MESSAGE_COUNTS,
  {
    name: 'recipients',
    person: 'blind index',
    indexes: [{ column: 'phone_index', isUnique: true, moves: [MOVE_RECIPIENTS] }],
  },
  { name: 'sender', person: { not: 'one row of the store' } },
  EARLY_EVENTS,
  { name: 'paused_templates', person: { not: 'names of templates' } },
  SUPPRESSIONS,
  { name: 'exclusion_registers', person: { not: 'names of registers' } },
  EXCLUDED_NUMBERS,
  CHANNEL_USERS,
  REPLIES,
];
