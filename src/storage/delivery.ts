/** The statements of delivery: claim what is due, begin to send, record what came of it. */

import type { Brand } from '../domain/brand.ts';
import type { MessageStatus, MessageType } from '../domain/notify.ts';
import { type Database, inTransaction, type Session } from './database.ts';
import { FACTS_BYTES, moneyAt } from './facts.ts';
import { makeMessages } from './message-records.ts';
import { type PersonalFault, readPeople } from './personal-data.ts';
import { isRowFault } from './row-fault.ts';
import type { Vault } from './vault.ts';

export interface ClaimedMessage {
  readonly applicationId: number;
  readonly type: MessageType;
  /** So far. */
  readonly attempts: number;
  /** Those since an operator queued it again, or all. */
  readonly tries: number;
  readonly batchId: string;
  /** Why phone and name cannot be told; null where they can, and where the applicant was erased. */
  readonly fault: PersonalFault | null;
  /** null where the applicant was erased or there is a fault. */
  readonly phone: string | null;
  readonly name: string | null;
  readonly debtAmount: number;
  readonly currency: string;
  readonly partnerName: string;
  readonly brand: Brand;
}

interface ClaimedRow {
  application_id: string;
  type: MessageType;
  attempts: number;
  tries: number;
  /** As milliseconds: the driver takes longer to read a time. */
  now_ms: number;
}

const CLAIM = `
  SELECT application_id, type, attempts, tries, extract(epoch FROM now())::float8 * 1000 AS now_ms
  FROM claim_due($1, $2) ORDER BY application_id`;

/** What the messages of a batch are made of, but for its envelope. */
interface BatchRow {
  id: string;
  phones: (string | null)[];
  /** A position without an application has none. */
  id_numbers: (string | null)[];
  facts: Buffer;
  partner_name: string;
  brand: Brand;
}

/** Whole batches: their messages are mostly due together, and single applications of them are dear to read. */
const READ_BATCHES = `
  SELECT b.id, b.phones, b.id_numbers, b.facts, p.name AS partner_name, k.brand
  FROM batches b
  JOIN partners p ON p.id = b.partner_id
  JOIN api_keys k ON k.id = b.api_key_id
  WHERE b.id = ANY ($1::bigint[])`;

/** One of the claimed messages holds what stops all of them; they are free again. */
export class ClaimFault extends Error {
  override readonly name = 'ClaimFault';
  readonly applicationIds: readonly number[];

  constructor(applicationIds: readonly number[], cause: unknown) {
    super('a claimed message stops the others', { cause });
    this.applicationIds = applicationIds;
  }
}

/**
 * Claims up to `limit` messages that are due, no more than the sender may send at its rate, and lets `work`
 * decide on them, in one transaction: what is claimed is locked, and free again at once should this process die.
 * `work` has milliseconds and sends nothing; `now` is the database's (D39). Null where no message may go. Throws
 * `ClaimFault` where what a message holds makes the work fail.
 */
export async function claimDue<T>(
  database: Database,
  vault: Vault,
  limit: number,
  messagesPerSecond: number | null,
  work: (messages: readonly ClaimedMessage[], claim: Session, now: Date) => Promise<T>,
): Promise<T | null> {
  return inTransaction(database, async (claim) => {
    const { rows } = await claim.query<ClaimedRow>({
      name: 'claim_due',
      text: CLAIM,
      values: [limit, messagesPerSecond],
    });
    const first = rows[0];
    if (first === undefined) return null;
    try {
      return await work(await messagesOf(claim, vault, rows), claim, new Date(first.now_ms));
    } catch (error) {
      if (!isRowFault(error)) throw error;
      const ids = rows.map((row) => Number(row.application_id));
      throw new ClaimFault(ids, error);
    }
  });
}

async function messagesOf(
  claim: Session,
  vault: Vault,
  rows: readonly ClaimedRow[],
): Promise<ClaimedMessage[]> {
  const placed = rows.map((row) => ({ row, ...placeOf(row.application_id) }));
  const { rows: batches } = await claim.query<BatchRow>({
    name: 'read_batches',
    text: READ_BATCHES,
    values: [[...new Set(placed.map(({ batchId }) => batchId))]],
  });
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  const found = placed.map(({ row, batchId, position }) => ({
    row,
    batch: byId.get(batchId) ?? goneBatch(batchId),
    position,
  }));
  const people = await readPeople(
    claim,
    vault,
    found.map(({ batch, position }) => ({
      batch_id: batch.id,
      position,
      phone_index: batch.phones[position] ?? null,
      id_number_index: batch.id_numbers[position] ?? null,
    })),
  );
  return found.map(({ row, batch, position }, index) => ({
    applicationId: Number(row.application_id),
    type: row.type,
    attempts: row.attempts,
    tries: row.tries,
    batchId: batch.id,
    fault: people[index]?.fault ?? null,
    phone: people[index]?.record?.phone ?? null,
    name: people[index]?.record?.name ?? null,
    ...moneyAt(batch.facts, position),
    partnerName: batch.partner_name,
    brand: batch.brand,
  }));
}

/** A batch that is not kept any more: its applicants count as erased. */
function goneBatch(id: string): BatchRow {
  return { id, phones: [], id_numbers: [], facts: Buffer.alloc(FACTS_BYTES), partner_name: '', brand: {} };
}

/** The id of an application tells its batch and its position there. */
function placeOf(applicationId: string): { batchId: string; position: number } {
  const id = BigInt(applicationId);
  return { batchId: (id >> 7n).toString(), position: Number(id & 127n) };
}

const PUT_OFF = 'SELECT put_off($1, $2, $3, $4)';

/** What does not go out now: it waits until `dueAt` or has come to its end; whatever the reason is. */
export interface PutOff {
  readonly applicationId: number;
  readonly status: Extract<MessageStatus, 'queued' | 'cancelled' | 'failed'>;
  /** By the database's clock. */
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

const SET_ASIDE = `
  UPDATE message_records SET tries = tries + 1, status = CASE WHEN tries + 1 < $2 THEN status ELSE 'failed' END,
    reason = $3, due_at = now() + $4 * interval '1 millisecond', changed_at = now()
  WHERE application_id = $1::bigint AND status = 'queued'`;

/** Lets a message wait that stops others, for a fault that may pass; after `maxTries` it has failed. */
export async function setAside(
  database: Database,
  applicationId: number,
  { maxTries, reason, afterMs }: { maxTries: number; reason: string; afterMs: number },
): Promise<void> {
  await makeMessages(database, [applicationId]);
  await database.query(SET_ASIDE, [applicationId, maxTries, reason, afterMs]);
}

/** The limits of a sender (the channel's facts, "Limits"); null: none. */
export interface SenderLimits {
  readonly messagesPerSecond: number | null;
  /** Least time between two messages to one phone, in milliseconds. */
  readonly pairMs: number;
  /** Most different phones in any 24 hours. */
  readonly recipientsPerDay: number | null;
}

interface BegunMessage {
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

/** Messages that one statement makes due. */
const MAKE_DUE_LIMIT = 10_000;
const PAUSE_SENDER = `UPDATE sender SET paused_at = now(), paused_reason = $1 WHERE paused_at IS NULL`;
const PAUSE_TEMPLATE = `
  INSERT INTO paused_templates (name, reason) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`;
const RESUME_SENDER = `
  UPDATE sender SET paused_at = NULL, paused_reason = NULL, broken_at = NULL, broken_reason = NULL, failures = 0,
    probes = 0, probe_at = NULL, credit = CASE WHEN broken_at IS NULL THEN credit ELSE 10 END
  WHERE paused_at IS NOT NULL OR broken_at IS NOT NULL`;
const RESUME_TEMPLATE = `DELETE FROM paused_templates WHERE name = $1`;
/** Those of other templates that are paused will be put off once more. */
const MAKE_DUE = `
  UPDATE message_records SET due_at = now() WHERE application_id IN (
    SELECT m.application_id FROM waiting_messages w JOIN message_records m ON m.application_id = w.application_id
    WHERE w.status = 'queued' AND w.due_at > now()
      AND m.status = 'queued' AND m.reason = 'template_paused' AND m.due_at > now()
    LIMIT ${MAKE_DUE_LIMIT} FOR NO KEY UPDATE OF m SKIP LOCKED)`;

/** Holds all messages until `resumeSender`. False where it was paused already. */
export async function pauseSender(session: Session, reason: string): Promise<boolean> {
  return (await session.query(PAUSE_SENDER, [reason])).rowCount === 1;
}

/** Holds the messages of a template until `resumeTemplate`. False where it was paused already. */
export async function pauseTemplate(session: Session, name: string, reason: string): Promise<boolean> {
  return (await session.query(PAUSE_TEMPLATE, [name, reason])).rowCount === 1;
}

/** Lets messages go out again, also where the channel failed. False where nothing held them. */
export async function resumeSender(database: Database): Promise<boolean> {
  return (await database.query(RESUME_SENDER)).rowCount === 1;
}

/** Lets the template's messages go out again, from now on. False where it was not paused. */
export async function resumeTemplate(database: Database, name: string): Promise<boolean> {
  if ((await database.query(RESUME_TEMPLATE, [name])).rowCount === 0) return false;
  while ((await database.query(MAKE_DUE)).rowCount === MAKE_DUE_LIMIT);
  return true;
}
