/** Retrying and cancelling many messages: a walk over those of one state, in statements of bounded work. */
import type { MessageStatus } from '../domain/notify.ts';
import type { Database } from './database.ts';

/** What an operator may do to many messages, and to those of which states. */
export const DEED_STATUSES = {
  retry: ['failed', 'uncertain'],
  cancel: ['queued', 'uncertain'],
} as const satisfies Readonly<Record<string, readonly MessageStatus[]>>;
export type Deed = keyof typeof DEED_STATUSES;
export type DeedStatus = (typeof DEED_STATUSES)[Deed][number];

interface MessageSelection {
  readonly status: DeedStatus;
  readonly reason: string | null;
  readonly partnerId: number | null;
}

export interface SelectionCount {
  /** Messages that the deed takes, or took. */
  readonly ready: number;
  /** Uncertain ones that the channel may still settle. */
  readonly early: number;
  /** When the last of those may be settled. */
  readonly earlyUntil: Date | null;
}

/** Messages that one statement looks at. */
const STEP = 10_000;

/** An uncertain message is an operator's only once the channel can no longer be expected to settle it. */
const IS_READY = "(status <> 'uncertain' OR due_at <= now())";

const FITS = `
  SELECT m.application_id, m.status, m.due_at FROM messages m
  WHERE m.application_id IN (SELECT application_id FROM seen)
    AND ($2::text IS NULL OR m.reason = $2)
    AND ($3::bigint IS NULL OR EXISTS (
      SELECT FROM batches b WHERE b.id = m.application_id >> 7 AND b.partner_id = $3))`;

const COUNTED = `
  SELECT (SELECT max(application_id) FROM seen) AS last, (SELECT count(*) FROM seen)::integer AS seen,
    (SELECT count(*) FROM fits WHERE ${IS_READY})::integer AS ready,
    (SELECT count(*) FROM fits WHERE NOT ${IS_READY})::integer AS early,
    (SELECT max(due_at) FROM fits WHERE NOT ${IS_READY}) AS early_until`;

const CHANGE: Readonly<Record<Deed, string>> = {
  retry: "status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()",
  cancel: "status = 'cancelled', reason = 'operator', changed_at = now()",
};

/**
 * `messages_ended` serves the ends. Nothing serves queued messages in the order of their ids, and it would cost every
 * registration: all messages are walked over, by their primary key.
 */
function seenText(status: DeedStatus): string {
  const ended = status === 'queued' ? '' : `AND status = '${status}'`;
  return `
  SELECT application_id FROM messages WHERE application_id > $1 ${ended} ORDER BY application_id LIMIT ${STEP}`;
}

function countText(status: DeedStatus): string {
  return `WITH seen AS MATERIALIZED (${seenText(status)}), fits AS (${FITS} AND m.status = '${status}') ${COUNTED}`;
}

/** Locked in the order of the ids, as everybody does who locks more than one. */
function changeText(deed: Deed, status: DeedStatus): string {
  return `
  WITH seen AS MATERIALIZED (${seenText(status)}), fits AS MATERIALIZED (
    ${FITS} AND m.status = '${status}' ORDER BY m.application_id FOR NO KEY UPDATE OF m
  ), moved AS (
    UPDATE messages SET ${CHANGE[deed]} WHERE application_id IN (SELECT application_id FROM fits WHERE ${IS_READY})
  )
  ${COUNTED}`;
}

/** How many messages a deed would take; nothing is changed. */
export function countSelection(database: Database, selection: MessageSelection): Promise<SelectionCount> {
  return walk(database, countText(selection.status), selection);
}

/** Does the deed to all messages that fit, in transactions of their own: what was done stays done. */
export function changeSelection(
  database: Database,
  deed: Deed,
  selection: MessageSelection,
): Promise<SelectionCount> {
  return walk(database, changeText(deed, selection.status), selection);
}

interface StepRow {
  last: string | null;
  seen: number;
  ready: number;
  early: number;
  early_until: Date | null;
}

async function walk(
  database: Database,
  text: string,
  { reason, partnerId }: MessageSelection,
): Promise<SelectionCount> {
  let after = '0';
  let [ready, early] = [0, 0];
  let earlyUntil: Date | null = null;
  for (;;) {
    const { rows } = await database.query<StepRow>(text, [after, reason, partnerId]);
    const step = rows[0] as StepRow;
    ready += step.ready;
    early += step.early;
    if (step.early_until !== null && (earlyUntil === null || step.early_until > earlyUntil)) {
      earlyUntil = step.early_until;
    }
    if (step.last === null || step.seen < STEP) return { ready, early, earlyUntil };
    after = step.last;
  }
}
