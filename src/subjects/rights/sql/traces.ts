/**
 * Reads what the store has about a person beside the applications themselves, for the export (docs/subject.md,
 * "Export"). Reads the tables of all subjects and writes nothing; test/rights/tables.test.ts has the list of tables.
 */
import {
  type ApplicationId,
  type BlindIndex,
  batchAndPositionOf,
  messageIdsOf,
  partitionOf,
} from '../../../domain/application/ids.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { withTime } from '../../applications/sql/partitions.ts';

/** Names and values as they are stored, without blind indexes and sealed bytes. */
export type Trace = Readonly<Record<string, unknown>>;

/** The statements for what is stored under phones, by table. */
const BY_PHONE = {
  suppressions: `
    SELECT active, source, created_at, changed_at, stopped_at, resumed_at, lifted_at FROM suppressions
    WHERE phone_index = ANY ($1::bigint[])`,
  excluded_numbers: `
    SELECT r.name, x.listed_at FROM excluded_numbers x JOIN exclusion_registers r ON r.id = x.register_id
    WHERE x.phone_index = ANY ($1::bigint[]) ORDER BY r.name`,
  recipients: `
    SELECT sent_at, answered_at, message_id, partner_id, is_rejected, earlier_ids, earlier_at, earlier_partners
    FROM recipients WHERE phone_index = ANY ($1::bigint[])`,
  waiting_rejections: `
    SELECT partner_id, message_id FROM waiting_rejections WHERE phone_index = ANY ($1::bigint[])`,
  replies: `
    SELECT application_id::float8 AS application_id, turn, status, reason, created_at, window_until, sent_at,
      delivered_at, read_at
    FROM replies WHERE phone_index = ANY ($1::bigint[]) ORDER BY application_id, turn`,
  conversations: `
    SELECT application_id::float8 AS application_id, place, held_by, language, turn, began_at, heard_at, ended_at
    FROM conversations WHERE phone_index = ANY ($1::bigint[]) ORDER BY id`,
  conversation_inputs: `
    SELECT i.application_id::float8 AS application_id, i.source, i.at, i.stored_at, i.turn FROM conversation_inputs i
    JOIN conversations c ON c.id = i.conversation_id WHERE c.phone_index = ANY ($1::bigint[]) ORDER BY i.id`,
  conversation_work: `
    SELECT w.application_id::float8 AS application_id, w.work, w.tries, w.queued_at FROM conversation_work w
    JOIN conversations c ON c.id = w.conversation_id WHERE c.phone_index = ANY ($1::bigint[]) ORDER BY w.id`,
  channel_users: `
    SELECT stopped_at, stop_source, resumed_at FROM channel_users WHERE phone_index = ANY ($1::bigint[])`,
  early_events: `
    SELECT e.status, e.at, e.failure FROM early_events e
    JOIN channel_users u ON u.user_index = e.user_index WHERE u.phone_index = ANY ($1::bigint[])`,
} as const;

/** The rows that the store has about these phones, by table. */
export async function tracesOfPhones(
  database: Database,
  phones: readonly BlindIndex<'phone'>[],
): Promise<Readonly<Record<keyof typeof BY_PHONE, Trace[]>>> {
  const values = [phones.map(toBigint)];
  const found: [string, Trace[]][] = [];
  for (const [table, text] of Object.entries(BY_PHONE)) {
    found.push([table, (await database.query<Trace>(text, values)).rows]);
  }
  return Object.fromEntries(found) as Readonly<Record<keyof typeof BY_PHONE, Trace[]>>;
}

const PHONES = 'SELECT DISTINCT phone_index FROM phones_of($1::bigint[]) WHERE phone_index IS NOT NULL';

/** The blind indexes of the phones of applications, each as the decimal text of a bigint. */
export async function phonesOf(database: Database, ids: readonly ApplicationId[]): Promise<string[]> {
  const phones = new Set<string>();
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await database.query<{ phone_index: string }>(PHONES, [some]);
    for (const { phone_index } of rows) phones.add(phone_index);
  }
  return [...phones];
}

/** Three statements, because on a cluster these tables are on different machines. */
const BATCH = 'SELECT b.seal_id, b.phones[$2::integer + 1] AS phone FROM batches b WHERE b.id = $1';
const HOLDS =
  'SELECT count(*) > 0 AS holds FROM open_phones o WHERE o.phone_index = $2 AND o.application_id = $1';
/** For an application: its part of the receipt, whether a worker is sending its message, and what was signed. */
const BESIDE = `
  SELECT (SELECT json_build_object('created_at', r.created_at, 'outcome', coalesce(substr(r.outcomes, $2::integer + 1, 1), 'R'))
      FROM batch_receipts r WHERE r.batch_id = $3::uuid) AS receipt,
    EXISTS (SELECT FROM leases l WHERE l.ids && $4::bigint[]) AS is_being_sent,
    ARRAY(SELECT json_build_object('id', c.id, 'state', c.state, 'reason', c.reason, 'made_at', c.made_at, 'terms', c.terms,
        'sha256', encode(c.sha256, 'hex'), 'expires_at', c.expires_at, 'signed_at', c.signed_at,
        'withdrawn_at', c.withdrawn_at, 'disbursed_on', c.disbursed_on)
      FROM loan_contracts c WHERE c.application_id = $1::bigint ORDER BY c.id) AS contracts,
    ARRAY(SELECT json_build_object('began_at', k.began_at, 'ends_at', k.ends_at, 'tries', k.tries, 'way', k.way,
        'sent_at', k.sent_at, 'used_at', k.used_at)
      FROM signing_codes k WHERE k.application_id = $1::bigint ORDER BY k.id) AS codes,
    ARRAY(SELECT json_build_object('number', e.number, 'at', e.recorded_at, 'kind', e.kind, 'facts', e.facts)
      FROM contract_evidence e WHERE e.application_id = $1::bigint ORDER BY e.number) AS evidence,
    ARRAY(SELECT json_build_object('at', a.at, 'by', a.actor, 'act', a.act, 'reason', a.reason)
      FROM operator_events a WHERE a.application_id = $1::bigint ORDER BY a.id) AS acts`;

/** The statements for more rows beside an application, by table. */
const OF_APPLICATION = {
  business_offers: 'SELECT o.at FROM business_offers o WHERE o.application_id = $1',
  documents: `
    SELECT d.id, d.purpose, d.state, d.reason, d.received_at, d.decided_at, d.content_type, d.bytes,
      encode(d.sha256, 'hex') AS sha256,
      (SELECT count(*)::integer FROM document_inputs i WHERE i.document_id = d.id) AS messages
    FROM documents d WHERE d.application_id = $1 ORDER BY d.id`,
  sent_files: 'SELECT f.sent_at FROM sent_files f WHERE f.application_id = $1 ORDER BY f.sent_at',
  income_checks: `
    SELECT c.checked_at, c.method, c.outcome, c.reason, c.currency, c.declared, c.observed, c.months, c.confidence, c.layouts,
      c.policy_version, c.new_score, c.new_decision
    FROM income_checks c WHERE c.application_id = $1 ORDER BY c.id`,
  disbursements: `
    SELECT d.number, d.kind, d.returned, to_char(d.value_date, 'YYYY-MM-DD') AS value_date, d.recorded_at, d.recorded_by,
      d.second, encode(d.proof_sha256, 'hex') AS proof_sha256
    FROM disbursements d WHERE d.application_id = $1 ORDER BY d.contract_id, d.number`,
  loan_labels: `
    SELECT to_char(l.day, 'YYYY-MM-DD') AS day, l.is_bad FROM loan_labels l WHERE l.application_id = $1`,
  income_steps: 'SELECT s.application_id FROM income_steps s WHERE s.application_id = $1',
  proposals: `
    SELECT p.id, p.act, p.reason_code, p.reason, p.created_at, p.apply_at, p.needs_second, p.state, p.confirmed_at, p.ended_at,
      p.outcome, o.due_at
    FROM proposals p LEFT JOIN open_proposals o ON o.proposal_id = p.id AND o.application_id = p.application_id
    WHERE p.application_id = $1 ORDER BY p.id`,
  pends: `
    SELECT p.missing, p.at, 'operator ' || p.operator_id AS by, p.ends_at, p.message, p.ended_at, p.ending,
      'operator ' || p.resumed_by AS resumed_by,
      EXISTS (SELECT FROM open_pends o WHERE o.pend_id = p.id) AS is_open
    FROM pends p WHERE p.application_id = $1 ORDER BY p.id`,
  second_looks: `
    SELECT l.proposal_id::float8 AS proposal_id, l.at, l.looked_at, l.agrees, l.note FROM second_looks l
    WHERE l.application_id = $1 ORDER BY l.proposal_id`,
  cases: `
    SELECT c.id::float8 AS id, c.kind, c.asked_at, c.due_at, c.acknowledged_at, c.outcome, c.answered_at, c.answered_by,
      c.told_turn FROM cases c WHERE c.application_id = $1 ORDER BY c.id`,
  told_reasons: `
    SELECT t.message_id, t.turn, t.at, t.codes, t.language FROM told_reasons t WHERE t.application_id = $1 ORDER BY t.id`,
  loan_debts: `
    SELECT d.id::float8 AS id, d.told_by, d.document_id::float8 AS document_id, d.added_at, d.added_by, d.removed_at,
      d.removed_by, d.contract_id::float8 AS contract_id FROM loan_debts d WHERE d.application_id = $1 ORDER BY d.id`,
  loan_offers: `
    SELECT o.made_at, o.expires_at, o.terms FROM loan_offers o WHERE o.application_id = $1`,
  debt_acceptances: `
    SELECT a.accepted_at, a.debts FROM debt_acceptances a WHERE a.application_id = $1 ORDER BY a.id`,
  application_notes: `
    SELECT n.id::float8 AS id, n.at, 'operator ' || n.operator_id AS by FROM application_notes n WHERE n.application_id = $1 ORDER BY n.id`,
} as const;

/** What is stored beside an application. It has no rows if the application is gone. */
export async function tracesOfApplication(database: Database, id: ApplicationId): Promise<Trace> {
  const found: [string, Trace[]][] = [];
  for (const [table, text] of Object.entries(OF_APPLICATION)) {
    found.push([table, (await database.query<Trace>(text, [id])).rows]);
  }
  return { ...(await besideOf(database, id)), ...Object.fromEntries(found) };
}

async function besideOf(database: Database, id: ApplicationId): Promise<Trace> {
  const { batchId, position } = batchAndPositionOf(id);
  const { rows: batches } = await database.query<{ seal_id: string; phone: string | null }>(BATCH, [
    batchId,
    position,
  ]);
  const [batch] = batches;
  if (batch === undefined) return {};
  const holds = await database.query<{ holds: boolean }>(HOLDS, [id, batch.phone]);
  const values = [id, position, batch.seal_id, messageIdsOf(id)];
  const { rows } = await database.query<Trace>(BESIDE, values);
  return { holds_phone: holds.rows[0]?.holds === true, ...rows[0] };
}

/** Events have no index by application, so reading a month of a partner's events takes seconds. */
const EVENTS_TIMEOUT_MS = 60_000;
const EVENTS = `
  SELECT e.application_id::float8 AS application_id, e.partner_id, e.number, e.type, e.at, e.from_status, e.to_status,
    e.reason_code, e.message_type, q.attempts AS push_attempts, q.due_at AS push_due_at
  FROM partner_events e LEFT JOIN pushes q ON q.partner_id = e.partner_id AND q.number = e.number
  WHERE e.partner_id = ANY ($1::integer[]) AND e.application_id = ANY ($2::bigint[])
  ORDER BY e.partner_id, e.number`;

/** The events that partners can read about these applications, and which of them wait for their push. */
export function eventsOf(
  database: Database,
  partners: readonly number[],
  ids: readonly ApplicationId[],
): Promise<Trace[]> {
  return withTime<Trace>(database, EVENTS_TIMEOUT_MS, EVENTS, [partners, ids]);
}
