/** Claims messages that are due, with all that they are made of. */

import { type ApplicationId, type BatchId, placeOf, toApplicationId } from '../../domain/application/ids.ts';
import type { Phone } from '../../domain/application/phone.ts';
import type { Brand } from '../../domain/message/brand.ts';
import type { MessageType } from '../../domain/message/notify.ts';
import { type Database, inTransaction, type Session } from '../../storage/database.ts';
import { FACTS_BYTES, moneyAt } from '../../storage/facts.ts';
import { type PersonalFault, readPeople } from '../../storage/personal-data.ts';
import { isRowFault } from '../../storage/row-fault.ts';
import type { Vault } from '../../storage/vault.ts';

export interface ClaimedMessage {
  readonly applicationId: ApplicationId;
  readonly type: MessageType;
  /** So far. */
  readonly attempts: number;
  /** Those since an operator queued it again, or all. */
  readonly tries: number;
  readonly batchId: BatchId;
  /** Why phone, name or amount cannot be told; null where they can, and where the applicant was erased. */
  readonly fault: PersonalFault | null;
  /** null where the applicant was erased or there is a fault. */
  readonly phone: Phone | null;
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
interface ClaimedBatch {
  id: BatchId;
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
  readonly applicationIds: readonly ApplicationId[];

  constructor(applicationIds: readonly ApplicationId[], cause: unknown) {
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
      const ids = rows.map((row) => toApplicationId(row.application_id));
      throw new ClaimFault(ids, error);
    }
  });
}

async function messagesOf(
  claim: Session,
  vault: Vault,
  rows: readonly ClaimedRow[],
): Promise<ClaimedMessage[]> {
  const placed = rows.map((row) => ({ row, ...placeOf(toApplicationId(row.application_id)) }));
  const { rows: batches } = await claim.query<ClaimedBatch>({
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
  return found.map(({ row, batch, position }, index) => {
    const money = moneyAt(batch.facts, position);
    return {
      applicationId: toApplicationId(row.application_id),
      type: row.type,
      attempts: row.attempts,
      tries: row.tries,
      batchId: batch.id,
      fault: people[index]?.fault ?? (money === null ? 'unreadable' : null),
      phone: people[index]?.record?.phone ?? null,
      name: people[index]?.record?.name ?? null,
      debtAmount: money?.debtAmount ?? 0,
      currency: money?.currency ?? '',
      partnerName: batch.partner_name,
      brand: batch.brand,
    };
  });
}

/** A batch that is not kept any more: its applicants count as erased. */
function goneBatch(id: BatchId): ClaimedBatch {
  return { id, phones: [], id_numbers: [], facts: Buffer.alloc(FACTS_BYTES), partner_name: '', brand: {} };
}
