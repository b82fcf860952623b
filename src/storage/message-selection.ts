/** Retries and cancels many messages of one status, in statements of bounded work. */
import type { MessageStatus } from '../domain/message/notify.ts';
import type { Database } from './database.ts';

/** The changes that operators may make to many messages, and the statuses that each change applies to. */
export const CHANGEABLE_STATUSES = {
  retry: ['failed', 'uncertain'],
  cancel: ['queued', 'uncertain'],
} as const satisfies Readonly<Record<string, readonly MessageStatus[]>>;
export type MessageChange = keyof typeof CHANGEABLE_STATUSES;
export type ChangeableStatus = (typeof CHANGEABLE_STATUSES)[MessageChange][number];

interface MessageSelection {
  readonly status: ChangeableStatus;
  readonly reason: string | null;
  readonly partnerId: number | null;
}

export interface SelectionCount {
  /** Messages that the change applies to, or was applied to. */
  readonly ready: number;
  /** Uncertain messages that the channel may still settle. */
  readonly early: number;
  /** When the last of these may be settled. */
  readonly earlyUntil: Date | null;
}

/** Most messages that one statement looks at. */
const STEP = 10_000;

/** An operator may change an uncertain message once the channel is no longer expected to settle it. */
const IS_READY = "(status <> 'uncertain' OR due_at <= now())";

const SEEN = `
  SELECT message_id, application_of_message(message_id) >> 7 AS batch_id FROM waiting_messages
  WHERE status = $4 AND message_id > $1 ORDER BY message_id LIMIT ${STEP}`;

/**
 * The partner's batches among those that were seen. They are read in a step of their own, because on a cluster they
 * are on other machines.
 */
const OWN = `
  SELECT b.id FROM batches b
  WHERE $3::bigint IS NOT NULL AND b.partner_id = $3
    AND b.id BETWEEN (SELECT min(batch_id) FROM seen) AND (SELECT max(batch_id) FROM seen)
    AND b.id = ANY (ARRAY(SELECT DISTINCT batch_id FROM seen))`;

/** Uses no IN or EXISTS for the records: the planner might turn these into a hash of all records. */
const FITS = `
  SELECT m.message_id, m.status, m.due_at FROM message_records m
  WHERE m.message_id = ANY (ARRAY(SELECT message_id FROM seen)) AND m.status = $4
    AND ($2::text IS NULL OR m.reason = $2)
    AND ($3::bigint IS NULL OR application_of_message(m.message_id) >> 7 IN (SELECT id FROM own))`;

const COUNTED = `
  SELECT (SELECT max(message_id) FROM seen) AS last, (SELECT count(*) FROM seen)::integer AS seen,
    (SELECT count(*) FROM fits WHERE ${IS_READY})::integer AS ready,
    (SELECT count(*) FROM fits WHERE NOT ${IS_READY})::integer AS early,
    (SELECT max(due_at) FROM fits WHERE NOT ${IS_READY}) AS early_until`;

const COUNT = `WITH seen AS MATERIALIZED (${SEEN}), own AS MATERIALIZED (${OWN}), fits AS (${FITS}) ${COUNTED}`;

const CHANGE: Readonly<Record<MessageChange, string>> = {
  retry: "status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()",
  cancel: "status = 'cancelled', reason = 'operator', due_at = NULL, changed_at = now()",
};

/** Locks rows in the order of the ids, as every statement does that locks several. */
function changeText(change: MessageChange): string {
  return `
  WITH seen AS MATERIALIZED (${SEEN}), own AS MATERIALIZED (${OWN}), fits AS MATERIALIZED (
    ${FITS} ORDER BY m.message_id FOR NO KEY UPDATE OF m
  ), moved AS (
    UPDATE message_records SET ${CHANGE[change]}
    WHERE message_id = ANY (ARRAY(SELECT message_id FROM fits WHERE ${IS_READY}))
  )
  ${COUNTED}`;
}

/** Most batches of the outbox that one statement looks at. */
const BATCH_STEP = 100;

const BATCHES = `
  SELECT batch_id, positions FROM outbox WHERE batch_id > $1 ORDER BY batch_id LIMIT ${BATCH_STEP}`;

/** A batch belongs to one partner. A message in the outbox has no reason yet. */
const FITTING = `
  SELECT batch_id, positions FROM seen
  WHERE $2::text IS NULL AND ($3::bigint IS NULL OR batch_id IN (SELECT id FROM own))`;

const BATCHES_COUNTED = `
  (SELECT max(batch_id) FROM seen) AS last, (SELECT count(*) FROM seen)::integer AS seen, 0 AS early,
  NULL::timestamptz AS early_until`;

const COUNT_OUTBOX = `
  WITH seen AS MATERIALIZED (${BATCHES}), own AS MATERIALIZED (${OWN})
  SELECT (SELECT coalesce(sum(cardinality(f.positions)), 0) FROM (${FITTING}) AS f)::integer AS ready, ${BATCHES_COUNTED}`;

const CANCEL_OUTBOX = `
  WITH seen AS MATERIALIZED (${BATCHES} FOR UPDATE), own AS MATERIALIZED (${OWN}), taken AS MATERIALIZED (
    SELECT t.id, t.type, t.partner_id FROM take_from_outbox(ARRAY(
      SELECT f.batch_id * 128 + p FROM (${FITTING}) AS f, unnest(f.positions) AS p)) AS t
  ), cancelled AS MATERIALIZED (
    SELECT make_records('queued', 0::smallint, now(), array_agg(id), array_agg(type), array_agg(partner_id),
      array_agg('cancelled'::message_status), array_agg(NULL::timestamptz), array_agg('operator'::text)) AS count
    FROM taken HAVING count(*) > 0
  )
  SELECT coalesce((SELECT count FROM cancelled), 0) AS ready, ${BATCHES_COUNTED}`;

/** How many messages a change would apply to; changes nothing. */
export function countSelection(database: Database, selection: MessageSelection): Promise<SelectionCount> {
  return walkBoth(database, selection, COUNT_OUTBOX, COUNT);
}

/** Changes all messages that fit, in several transactions: what is done stays done if a later one fails. */
export function changeSelection(
  database: Database,
  change: MessageChange,
  selection: MessageSelection,
): Promise<SelectionCount> {
  return walkBoth(database, selection, CANCEL_OUTBOX, changeText(change));
}

/** Walks over the outbox first: a message that leaves the outbox meanwhile is then among the records. */
async function walkBoth(
  database: Database,
  selection: MessageSelection,
  outboxText: string,
  text: string,
): Promise<SelectionCount> {
  const { status, reason, partnerId } = selection;
  const inOutbox =
    status === 'queued' && reason === null
      ? await walkMessages(database, outboxText, [reason, partnerId], BATCH_STEP)
      : NONE;
  const others = await walkMessages(database, text, [reason, partnerId, status], STEP);
  return { ...others, ready: inOutbox.ready + others.ready };
}

const NONE: SelectionCount = { ready: 0, early: 0, earlyUntil: null };

interface StepRow {
  last: string | null;
  seen: number;
  ready: number;
  early: number;
  early_until: Date | null;
}

async function walkMessages(
  database: Database,
  text: string,
  values: readonly unknown[],
  most: number,
): Promise<SelectionCount> {
  let after = '0';
  let [ready, early] = [0, 0];
  let earlyUntil: Date | null = null;
  for (;;) {
    const { rows } = await database.query<StepRow>(text, [after, ...values]);
    const step = rows[0]!;
    ready += step.ready;
    early += step.early;
    if (step.early_until !== null && (earlyUntil === null || step.early_until > earlyUntil)) {
      earlyUntil = step.early_until;
    }
    if (step.last === null || step.seen < most) return { ready, early, earlyUntil };
    after = step.last;
  }
}
