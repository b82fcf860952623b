/**
 * Lets an operator retry or cancel many messages of one status, in statements of limited work (docs/messages.md,
 * "Uncertain messages"). Reads and writes `outbox` and `message_records`.
 */
import {
  applicationOfMessage,
  type BatchId,
  batchAndPositionOf,
  type MessageId,
  partitionOfBatch,
} from '../../../../domain/application/ids.ts';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { type Database, inTransaction, onlyRow } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import { noteWaitingRejections } from '../message-records.ts';
import { walkWaiting } from '../waiting-messages.ts';
import { CHANGE, type ChangeableStatus, IS_READY, type MessageChange } from './operator-changes.ts';

interface MessageSelection {
  readonly status: ChangeableStatus;
  readonly reason: string | null;
  readonly partnerId: PartnerId | null;
}

export interface SelectionCount {
  /** How many messages the change applies to, or was applied to. */
  readonly ready: number;
  /** How many uncertain messages the channel may still settle. */
  readonly early: number;
  /** From when on the last of these may be settled. */
  readonly earlyUntil: Date | null;
}

/** Which of these batches are the partner's. */
const OWN = 'SELECT b.id FROM batches b WHERE b.id = ANY ($1::bigint[]) AND b.partner_id = $2';

const FITS = `
  SELECT m.message_id, m.status, m.due_at FROM message_records m
  WHERE m.message_id = ANY ($1::bigint[]) AND m.status = $2 AND ($3::text IS NULL OR m.reason = $3)`;

const COUNTED = `
  SELECT (count(*) FILTER (WHERE ${IS_READY}))::integer AS ready,
    (count(*) FILTER (WHERE NOT ${IS_READY}))::integer AS early,
    max(due_at) FILTER (WHERE NOT ${IS_READY}) AS "earlyUntil"
  FROM fits`;

const COUNT = `WITH fits AS (${FITS}) ${COUNTED}`;

/** The statement of a change. It locks rows in the order of the ids, as every statement does that locks several. */
function changeText(change: MessageChange): string {
  return `
  WITH fits AS MATERIALIZED (
    ${FITS} ORDER BY m.message_id FOR NO KEY UPDATE OF m
  ), moved AS (
    UPDATE message_records SET ${CHANGE[change]}
    WHERE message_id = ANY ($1::bigint[]) AND message_id = ANY (ARRAY(SELECT message_id FROM fits WHERE ${IS_READY}))
  )
  ${COUNTED}`;
}

/** The most batches of the outbox that one statement looks at. */
const BATCH_STEP = 100;

const OUTBOX = `
  SELECT batch_id AS id, cardinality(positions) AS messages FROM outbox WHERE batch_id > $1 ORDER BY batch_id LIMIT ${BATCH_STEP}`;

const CANCEL_OUTBOX = `
  WITH held AS MATERIALIZED (
    SELECT batch_id, positions FROM outbox WHERE batch_id = ANY ($1::bigint[]) ORDER BY batch_id FOR UPDATE
  ), taken AS MATERIALIZED (
    SELECT t.id, t.type, t.partner_id FROM take_from_outbox(ARRAY(
      SELECT application_id_at(h.batch_id, p) FROM held h, unnest(h.positions) AS p)) AS t
  ), cancelled AS MATERIALIZED (
    SELECT make_records('queued', 0::smallint, now(), array_agg(id), array_agg(type), array_agg(partner_id),
      array_agg('cancelled'::message_status), array_agg(NULL::timestamptz), array_agg('operator'::text)) AS count
    FROM taken HAVING count(*) > 0
  )
  SELECT coalesce((SELECT count FROM cancelled), 0) AS ready`;

/** How many messages a change would apply to; changes nothing. */
export function countSelection(database: Database, selection: MessageSelection): Promise<SelectionCount> {
  return walkBoth(database, selection, null);
}

/** Changes all messages that fit, in several transactions: what is done stays done if a later one fails. */
export function changeSelection(
  database: Database,
  change: MessageChange,
  selection: MessageSelection,
): Promise<SelectionCount> {
  return walkBoth(database, selection, change);
}

/** Walks over the outbox first, so that a message that leaves it meanwhile is found among the records. */
async function walkBoth(
  database: Database,
  selection: MessageSelection,
  change: MessageChange | null,
): Promise<SelectionCount> {
  // A message in the outbox has no reason yet.
  const isInOutbox = selection.status === 'queued' && selection.reason === null;
  const inOutbox = isInOutbox ? await walkOutbox(database, selection, change) : 0;
  const others = await walkRecords(database, selection, change);
  return { ...others, ready: inOutbox + others.ready };
}

async function walkOutbox(
  database: Database,
  { partnerId }: MessageSelection,
  change: MessageChange | null,
): Promise<number> {
  let ready = 0;
  for (let after = '0'; ; ) {
    const { rows } = await database.query<{ id: BatchId; messages: number }>(OUTBOX, [after]);
    const own = await ownBatches(
      database,
      partnerId,
      rows.map(({ id }) => id),
    );
    if (change === null) {
      for (const { id, messages } of rows) ready += own.has(id) ? messages : 0;
    } else {
      ready += onlyRow((await database.query<{ ready: number }>(CANCEL_OUTBOX, [[...own]])).rows).ready;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_STEP) return ready;
    after = last.id;
  }
}

async function walkRecords(
  database: Database,
  { status, reason, partnerId }: MessageSelection,
  change: MessageChange | null,
): Promise<SelectionCount> {
  let [ready, early] = [0, 0];
  let earlyUntil: Date | null = null;
  for await (const ids of walkWaiting(database, status)) {
    const own = await ownBatches(database, partnerId, ids.map(batchOfMessage));
    const owned = ids.filter((id) => own.has(batchOfMessage(id)));
    if (owned.length === 0) continue;
    const step = await inTransaction(database, async (session) => {
      const text = change === null ? COUNT : changeText(change);
      const { rows } = await session.query<SelectionCount>(text, [owned, status, reason]);
      if (change === 'retry') await noteWaitingRejections(session, owned);
      return onlyRow(rows);
    });
    ready += step.ready;
    early += step.early;
    if (step.earlyUntil !== null && (earlyUntil === null || step.earlyUntil > earlyUntil)) {
      earlyUntil = step.earlyUntil;
    }
  }
  return { ready, early, earlyUntil };
}

/** Those of these batches that are the partner's; `partner` null: all of these. */
async function ownBatches(
  database: Database,
  partnerId: PartnerId | null,
  batchIds: readonly BatchId[],
): Promise<ReadonlySet<BatchId>> {
  const all = new Set(batchIds);
  if (partnerId === null) return all;
  const own = new Set<BatchId>();
  for (const some of byPartitions([...all], partitionOfBatch)) {
    const { rows } = await database.query<{ id: BatchId }>(OWN, [some, partnerId]);
    for (const { id } of rows) own.add(id);
  }
  return own;
}

function batchOfMessage(id: MessageId): BatchId {
  return batchAndPositionOf(applicationOfMessage(id)).batchId;
}
