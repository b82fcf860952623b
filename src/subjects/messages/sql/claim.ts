/** Claims messages that are due, with everything that they are composed from. */

import {
  applicationOfMessage,
  type BatchId,
  batchAndPositionOf,
  type MessageId,
  partitionOf,
  toMessageId,
} from '../../../domain/application/ids.ts';
import type { MessageSource } from '../../../domain/message/compose-message.ts';
import type { MessageType } from '../../../domain/message/notify.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import { type PartnerId, toPartnerId } from '../../../domain/partner/credential.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type Database, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { isRowFault } from '../../../ground/postgres/row-fault.ts';
import { readWhole } from '../../../ground/postgres/unresolved.ts';
import type { Vault } from '../../../seal/vault.ts';
import { FACTS_BYTES, moneyAt } from '../../applications/sql/facts.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { type PersonalFault, readPersonalData } from '../../applications/sql/personal-data.ts';

/** A message with everything that it is composed from: a `MessageSource` where its phone and name are there. */
export interface ClaimedMessage extends Omit<MessageSource, 'phone' | 'name'> {
  /** Sends since an operator last queued the message again, or all of them; the next send counts too. */
  readonly tries: number;
  readonly batchId: BatchId;
  /** Why phone, name or amount cannot be read; null if they can be read, or if the applicant was erased. */
  readonly fault: PersonalFault | null;
  /** null if the applicant was erased or there is a fault. */
  readonly phone: Phone | null;
  readonly name: string | null;
  readonly partnerId: PartnerId;
}

interface ClaimedRow {
  message_id: string;
  type: MessageType;
  /** Sends so far. */
  attempts: number;
  tries: number;
  last_partner: PartnerId;
  /** A number, because the driver takes longer to read a time. */
  now_ms: number;
}

/** In the order of the partners' turns. The sender's limits are shared in this order too (D42). */
const CLAIM = `
  SELECT message_id, type, attempts, tries, last_partner, extract(epoch FROM now())::float8 * 1000 AS now_ms
  FROM claim_due($1, $2, $3) WITH ORDINALITY ORDER BY nth, ordinality`;

/** What the messages of a batch are composed from, without the envelope. */
interface ClaimedBatch {
  id: BatchId;
  phones: (string | null)[];
  /** null at a position without an application. */
  id_numbers: (string | null)[];
  facts: Buffer;
  partner_id: PartnerId;
  partner_name: string;
  brand: Brand;
}

/**
 * Reads whole batches: their messages are mostly due together, and reading single applications of them is expensive.
 */
const READ_BATCHES = `
  SELECT b.id, b.phones, b.id_numbers, b.facts, b.partner_id, p.name AS partner_name, k.brand
  FROM batches b
  JOIN partners p ON p.id = b.partner_id
  JOIN api_keys k ON k.id = b.api_key_id
  WHERE b.id = ANY ($1::bigint[])`;

/** The messages of one claim, in the order of the partners' turns. */
export interface Claimed {
  readonly messages: readonly ClaimedMessage[];
  /** The next claim begins after this partner. */
  readonly lastPartnerId: number;
  /** The database's time (D39). */
  readonly now: Date;
}

interface ClaimContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** One of the claimed messages makes the work on all of them fail. None of them is claimed any more. */
export class ClaimFault extends Error {
  override readonly name = 'ClaimFault';
  readonly messageIds: readonly MessageId[];

  constructor(messageIds: readonly MessageId[], cause: unknown) {
    super('a claimed message stops the others', { cause });
    this.messageIds = messageIds;
  }
}

/**
 * Claims up to `limit` due messages of few partitions, no more than the sender's rate allows, and lets `work` decide on
 * them in one transaction: the messages are locked, and free again at once if this process dies. `work` takes
 * milliseconds and sends nothing. Returns null if no message may go out. Throws `ClaimFault` if the stored data of a
 * message makes the work fail.
 */
export async function claimDue<T>(
  { database, vault, clock }: ClaimContext,
  limit: number,
  messagesPerSecond: number | null,
  work: (claimed: Claimed, claim: Transaction) => Promise<T>,
): Promise<T | null> {
  return inTransaction(database, async (claim) => {
    const { rows } = await claim.query<ClaimedRow>({
      name: 'claim_due',
      text: CLAIM,
      values: [limit, messagesPerSecond, vault.indexKeyId],
    });
    // The others are free again with the end of the transaction.
    const [few] = byPartitions(rows, ({ message_id }) =>
      partitionOf(applicationOfMessage(toMessageId(message_id))),
    );
    const first = few?.[0];
    if (few === undefined || first === undefined) return null;
    try {
      const messages = await messagesOf({ database, vault, clock }, claim, few);
      const { last_partner: lastPartnerId, now_ms: nowMs } = first;
      return await work({ messages, lastPartnerId, now: new Date(nowMs) }, claim);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      const ids = few.map((row) => toMessageId(row.message_id));
      throw new ClaimFault(ids, error);
    }
  });
}

/** `database` answers outside of the transaction of `claim`. */
async function messagesOf(
  { database, vault, clock }: ClaimContext,
  claim: Transaction,
  rows: readonly ClaimedRow[],
): Promise<ClaimedMessage[]> {
  const split = rows.map((row) => ({
    row,
    ...batchAndPositionOf(applicationOfMessage(toMessageId(row.message_id))),
  }));
  const batchIds = [...new Set(split.map(({ batchId }) => batchId))];
  const read = async () => (await claim.query<ClaimedBatch>(READ_BATCHES, [batchIds])).rows;
  const batches = await readWhole(database, clock, read, (found) => found.length === batchIds.length);
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  const found = split.map(({ row: message, batchId, position }) => {
    const batch = byId.get(batchId) ?? goneBatch(batchId);
    return {
      message,
      batch,
      batch_id: batch.id,
      position,
      phone_index: batch.phones[position] ?? null,
      id_number_index: batch.id_numbers[position] ?? null,
    };
  });
  const persons = await readPersonalData(claim, vault, found, ['name', 'phone']);
  return persons.map(({ row: { message, batch, position }, person: { record, fault } }) => {
    const money = moneyAt(batch.facts, position);
    return {
      messageId: toMessageId(message.message_id),
      type: message.type,
      attempt: message.attempts + 1,
      tries: message.tries + 1,
      batchId: batch.id,
      fault: fault ?? (money === null ? 'unreadable' : null),
      phone: record?.phone ?? null,
      name: record?.name ?? null,
      debtAmount: money?.debtAmount ?? 0,
      currency: money?.currency ?? '',
      partnerId: batch.partner_id,
      partnerName: batch.partner_name,
      brand: batch.brand,
    };
  });
}

/** A deleted batch: its applicants count as erased. */
function goneBatch(id: BatchId): ClaimedBatch {
  const facts = Buffer.alloc(FACTS_BYTES);
  return { id, phones: [], id_numbers: [], facts, partner_id: toPartnerId(0), partner_name: '', brand: {} };
}
