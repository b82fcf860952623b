/** The statements of delivery: claim what is due, begin to send, record what came of it (design, "Messages"). */

import type { Brand } from '../domain/brand.ts';
import type { MessageStatus, MessageType } from '../domain/notify.ts';
import { type Database, inTransaction, type Session } from './database.ts';
import { readEnvelopes } from './envelope.ts';
import type { Vault } from './vault.ts';

export interface ClaimedMessage {
  readonly applicationId: number;
  readonly type: MessageType;
  /** So far. */
  readonly attempts: number;
  /** Those since an operator queued it again, or all. */
  readonly tries: number;
  /** null where the applicant was erased. */
  readonly phone: string | null;
  readonly name: string | null;
  /** A decimal number. */
  readonly debtAmount: string;
  readonly currency: string;
  readonly partnerName: string;
  readonly brand: Brand;
}

interface ClaimedRow {
  application_id: string;
  type: MessageType;
  attempts: number;
  tries: number;
  batch_id: string;
  position: number;
  debt_amount: string;
  currency: string;
  partner_name: string;
  brand: Brand;
}

const CLAIM = `
  SELECT d.application_id, d.type, d.attempts, d.tries, a.batch_id, a.position, a.debt_amount, a.currency,
    p.name AS partner_name, k.brand
  FROM claim_due($1, $2) d
  JOIN applications a ON a.id = d.application_id
  JOIN partners p ON p.id = a.partner_id
  JOIN api_keys k ON k.id = a.api_key_id
  ORDER BY d.application_id`;

/**
 * Claims up to `limit` messages that are due, no more than the sender may send at its rate, and lets `work`
 * decide on them, in one transaction: what is claimed is locked, and free again at once should this process die.
 * `work` has milliseconds and sends nothing. Null where no message may go.
 */
export async function claimDue<T>(
  database: Database,
  vault: Vault,
  limit: number,
  messagesPerSecond: number | null,
  work: (messages: readonly ClaimedMessage[], claim: Session) => Promise<T>,
): Promise<T | null> {
  return inTransaction(database, async (claim) => {
    const { rows } = await claim.query<ClaimedRow>({
      name: 'claim_due',
      text: CLAIM,
      values: [limit, messagesPerSecond],
    });
    return rows.length === 0 ? null : await work(await messagesOf(claim, vault, rows), claim);
  });
}

async function messagesOf(
  claim: Session,
  vault: Vault,
  rows: readonly ClaimedRow[],
): Promise<ClaimedMessage[]> {
  const batchIds = rows.map((row) => row.batch_id);
  const envelopes = await readEnvelopes(claim, vault, batchIds);
  return rows.map((row) => {
    const person = envelopes.get(row.batch_id)?.[row.position];
    return {
      applicationId: Number(row.application_id),
      type: row.type,
      attempts: row.attempts,
      tries: row.tries,
      phone: person?.phone ?? null,
      name: person?.name ?? null,
      debtAmount: row.debt_amount,
      currency: row.currency,
      partnerName: row.partner_name,
      brand: row.brand,
    };
  });
}

const PUT_OFF = `
  UPDATE messages m SET due_at = g.due_at, reason = g.reason, status = g.status, changed_at = now()
  FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::message_status[])
    AS g(id, due_at, reason, status)
  WHERE m.application_id = g.id`;

/** What does not go out now: it waits until `dueAt` or has come to its end; whatever the reason is. */
export interface PutOff {
  readonly applicationId: number;
  readonly status: Extract<MessageStatus, 'queued' | 'cancelled'>;
  readonly dueAt: Date;
  readonly reason: string;
}

/** Puts claimed messages off. */
export async function putOff(claim: Session, messages: readonly PutOff[]): Promise<void> {
  if (messages.length === 0) return;
  await claim.query(PUT_OFF, [
    messages.map((message) => message.applicationId),
    messages.map((message) => message.dueAt),
    messages.map((message) => message.reason),
    messages.map((message) => message.status),
  ]);
}

/** The limits of a sender (the channel's facts, "Limits"); null: none. */
export interface SenderLimits {
  readonly messagesPerSecond: number | null;
  /** Least time between two messages to one phone, in milliseconds. */
  readonly pairMs: number;
  /** Most different phones in any 24 hours. */
  readonly recipientsPerDay: number | null;
}

export interface BegunMessage {
  readonly applicationId: number;
  readonly verdict: 'send' | 'wait' | 'cancelled';
  readonly attempt: number;
}

const BEGIN = `
  SELECT id, verdict, attempt FROM begin_sending($1, $2, $3, $4 * interval '1 millisecond', $5,
    $6 * interval '1 millisecond')`;

/**
 * Decides for claimed messages whether each goes out now and marks those as sending; after `answerWithinMs`
 * without a record they are uncertain. Nothing may be sent before the claim has committed.
 */
export async function beginSending(
  claim: Session,
  messages: readonly { readonly applicationId: number; readonly template: string }[],
  limits: SenderLimits,
  answerWithinMs: number,
): Promise<BegunMessage[]> {
  const { rows } = await claim.query<{ id: string; verdict: BegunMessage['verdict']; attempt: number }>({
    name: 'begin_sending',
    text: BEGIN,
    values: [
      messages.map((message) => message.applicationId),
      messages.map((message) => message.template),
      limits.messagesPerSecond,
      limits.pairMs,
      limits.recipientsPerDay,
      answerWithinMs,
    ],
  });
  return rows.map(({ id, verdict, attempt }) => ({ applicationId: Number(id), verdict, attempt }));
}

/** What came of an attempt. */
export interface AttemptRecord {
  readonly applicationId: number;
  readonly attempt: number;
  readonly status: Extract<MessageStatus, 'accepted' | 'queued' | 'failed' | 'uncertain'>;
  /** Blind index. */
  readonly channelMessageId: string | null;
  readonly reason: string | null;
  readonly dueAt: Date;
}

/** A status event may have come first and knows better: only what is still open is written. */
const RECORD = `
  UPDATE messages m SET status = r.status, channel_message_id = coalesce(r.channel_message_id,
      m.channel_message_id), reason = r.reason, due_at = r.due_at, changed_at = now()
  FROM unnest($1::bigint[], $2::smallint[], $3::message_status[], $4::uuid[], $5::text[], $6::timestamptz[])
    AS r(id, attempt, status, channel_message_id, reason, due_at)
  WHERE m.application_id = r.id AND m.attempts = r.attempt AND m.status IN ('sending', 'uncertain')`;

/** Records what came of attempts; of a message that went on meanwhile nothing is changed. */
export async function recordAttempts(database: Database, records: readonly AttemptRecord[]): Promise<void> {
  await database.query({
    name: 'record_attempts',
    text: RECORD,
    values: [
      records.map((record) => record.applicationId),
      records.map((record) => record.attempt),
      records.map((record) => record.status),
      records.map((record) => record.channelMessageId),
      records.map((record) => record.reason),
      records.map((record) => record.dueAt),
    ],
  });
}

const GIVE_UP_LOST = `
  UPDATE messages SET status = 'uncertain', reason = 'no_record', changed_at = now(),
    due_at = now() + $1 * interval '1 millisecond'
  WHERE application_id IN (
    SELECT application_id FROM messages WHERE status = 'sending' AND due_at <= now()
    ORDER BY due_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

/**
 * Messages whose sender died between sending and recording become uncertain; an operator may settle them after
 * `settleAfterMs`. How many there were.
 */
export async function findLost(database: Database, settleAfterMs: number): Promise<number> {
  const { rowCount } = await database.query(GIVE_UP_LOST, [settleAfterMs]);
  return rowCount ?? 0;
}

/** Messages that one statement makes due. */
const MAKE_DUE_LIMIT = 10_000;
const PAUSE_SENDER = `UPDATE sender SET paused_at = now(), paused_reason = $1 WHERE paused_at IS NULL`;
const PAUSE_TEMPLATE = `
  INSERT INTO paused_templates (name, reason) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`;
const RESUME_SENDER = `UPDATE sender SET paused_at = NULL, paused_reason = NULL WHERE paused_at IS NOT NULL`;
const RESUME_TEMPLATE = `DELETE FROM paused_templates WHERE name = $1`;
/** Those of other templates that are paused will be put off once more. */
const MAKE_DUE = `
  UPDATE messages SET due_at = now() WHERE application_id IN (
    SELECT application_id FROM messages WHERE status = 'queued' AND reason = 'template_paused' AND due_at > now()
    LIMIT ${MAKE_DUE_LIMIT} FOR NO KEY UPDATE SKIP LOCKED)`;

/** Holds all messages until `resumeSender`. False where it was paused already. */
export async function pauseSender(session: Session, reason: string): Promise<boolean> {
  return (await session.query(PAUSE_SENDER, [reason])).rowCount === 1;
}

/** Holds the messages of a template until `resumeTemplate`. False where it was paused already. */
export async function pauseTemplate(session: Session, name: string, reason: string): Promise<boolean> {
  return (await session.query(PAUSE_TEMPLATE, [name, reason])).rowCount === 1;
}

/** False where it was not paused. */
export async function resumeSender(database: Database): Promise<boolean> {
  return (await database.query(RESUME_SENDER)).rowCount === 1;
}

/** Lets the template's messages go out again, from now on. False where it was not paused. */
export async function resumeTemplate(database: Database, name: string): Promise<boolean> {
  if ((await database.query(RESUME_TEMPLATE, [name])).rowCount === 0) return false;
  while ((await database.query(MAKE_DUE)).rowCount === MAKE_DUE_LIMIT);
  return true;
}

const FORGET_RECIPIENTS = `
  DELETE FROM recipients WHERE phone_index IN (
    SELECT phone_index FROM recipients WHERE sent_at < now() - interval '24 hours'
    ORDER BY sent_at LIMIT 5000)`;

/** Deletes what no limit needs any more. */
export async function forgetRecipients(database: Database): Promise<void> {
  while ((await database.query(FORGET_RECIPIENTS)).rowCount === 5000);
}
