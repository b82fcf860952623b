/**
 * Claims due messages, and reads everything that they are composed from (src/subjects/messages/README.md). Calls
 * `claim_due`, and reads batches, envelopes, the history and `paused_templates`.
 */
import {
  type ApplicationId,
  applicationOfMessage,
  type BatchId,
  type BlindIndex,
  type BlindIndexKind,
  batchAndPositionOf,
  type MessageId,
  partitionOf,
} from '../../../domain/application/ids.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import { refusalReasons, type WordedReason } from '../../../domain/application/refusal.ts';
import type { MessageSource } from '../../../domain/message/compose-message.ts';
import { type MessageType, tellsReasons } from '../../../domain/message/notify.ts';
import { type Brand, templateNames } from '../../../domain/partner/brand.ts';
import { type PartnerId, toPartnerId } from '../../../domain/partner/credential.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import { readWhole } from '../../../ground/postgres/unresolved.ts';
import { fromBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readReasons } from '../../applications/sql/decided-reasons.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { type PersonalFault, readPersonalData } from '../../applications/sql/personal-data.ts';
import { FACT_BYTES, FACTS_BYTES, moneyAt } from '../../applications/sql/prepared-batch.ts';

/** A message with everything that it is composed from. It is a `MessageSource` if its phone and name are there. */
export interface ClaimedMessage extends Omit<MessageSource, 'phone' | 'name'> {
  /** The number of sends since an operator last queued the message again, or of all sends. The next send counts too. */
  readonly tries: number;
  readonly batchId: BatchId;
  /** Why phone, name or amount cannot be read; null: they can be read, or the applicant was erased. */
  readonly fault: PersonalFault | null;
  /** null: the applicant was erased, or there is a fault. */
  readonly phone: Phone | null;
  readonly name: string | null;
  readonly partnerId: PartnerId;
}

/** A message that this transaction has locked. */
export interface ClaimedRow {
  messageId: MessageId;
  type: MessageType;
  /** The number of sends so far. */
  attempts: number;
  tries: number;
  lastPartnerId: PartnerId;
  /** A number, because the driver takes longer to read a time. */
  nowMs: number;
}

/** In the order of the partners' turns. The sender's limits are shared in the same order (D42). */
const CLAIM = `
  SELECT message_id AS "messageId", type, attempts, tries, last_partner AS "lastPartnerId",
    extract(epoch FROM now())::float8 * 1000 AS "nowMs"
  FROM claim_due($1, $2, $3) WITH ORDINALITY ORDER BY nth, ordinality`;

/** What the messages of a batch are composed from, without the envelope. */
interface ClaimedBatch {
  id: BatchId;
  phones: (string | null)[];
  /** A position without an application has null. */
  idNumbers: (string | null)[];
  facts: Buffer;
  policyId: number;
  partnerId: PartnerId;
  partnerName: string;
  brand: Brand;
}

/**
 * Reads whole batches: their messages are mostly due together, and reading single applications of them is expensive.
 */
const READ_BATCHES = `
  SELECT b.id, b.phones, b.id_numbers AS "idNumbers", b.facts, b.policy_id AS "policyId", b.partner_id AS "partnerId",
    p.name AS "partnerName", k.brand
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

/**
 * Locks up to `limit` due messages of few partitions until the end of the transaction, but no more than the sender's
 * rate allows.
 */
export async function claimMessages(
  claim: Transaction,
  { indexKeyId }: Vault,
  limit: number,
  messagesPerSecond: number | null,
): Promise<readonly ClaimedRow[]> {
  const values = [limit, messagesPerSecond, indexKeyId];
  const { rows } = await claim.query<ClaimedRow>({ name: 'claim_due', text: CLAIM, values });
  // The others are released at the end of the transaction.
  const [few = []] = byPartitions(rows, ({ messageId }) => partitionOf(applicationOfMessage(messageId)));
  return few;
}

/** Reads what claimed messages are composed from. */
export async function readClaimed(
  context: ClaimContext,
  claim: Transaction,
  rows: readonly [ClaimedRow, ...ClaimedRow[]],
): Promise<Claimed> {
  const { lastPartnerId, nowMs } = rows[0];
  return { messages: await messagesOf(context, claim, rows), lastPartnerId, now: new Date(nowMs) };
}

/** Reads the messages. `database` is used outside of the transaction of `claim`. */
async function messagesOf(
  { database, vault, clock }: ClaimContext,
  claim: Transaction,
  rows: readonly ClaimedRow[],
): Promise<ClaimedMessage[]> {
  const split = rows.map((row) => ({
    row,
    ...batchAndPositionOf(applicationOfMessage(row.messageId)),
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
      batchId: batch.id,
      position,
      phoneIndex: indexAt<'phone'>(batch.phones, position),
      idNumberIndex: indexAt<'id_number'>(batch.idNumbers, position),
    };
  });
  const persons = await readPersonalData(claim, vault, found, ['name', 'phone']);
  const reasons = await reasonsOf(
    claim,
    persons.flatMap(({ row: { message, batch, position }, person: { record } }) =>
      message.type === 'rejected' && record?.phone && tellsReasons(batch.brand.rejected_reasons, record.phone)
        ? [{ messageId: message.messageId, batch, position }]
        : [],
    ),
  );
  return persons.map(({ row: { message, batch, position }, person: { record, fault } }) => {
    const money = moneyAt(batch.facts, position);
    return {
      messageId: message.messageId,
      type: message.type,
      attempt: message.attempts + 1,
      tries: message.tries + 1,
      batchId: batch.id,
      fault: fault ?? (money === null ? 'unreadable' : null),
      phone: record?.phone ?? null,
      name: record?.name ?? null,
      debtAmount: money?.debtAmount ?? 0,
      currency: money?.currency ?? '',
      partnerId: batch.partnerId,
      partnerName: batch.partnerName,
      brand: batch.brand,
      reasons: reasons.get(message.messageId) ?? [],
    };
  });
}

/** A `rejected` message that tells the reasons. */
interface Telling {
  readonly messageId: MessageId;
  readonly batch: ClaimedBatch;
  readonly position: number;
}

/** Of the review that gave the status; the score rejected an application without one. */
const REVIEW_CODES = `
  SELECT DISTINCT ON (e.application_id) e.application_id::float8 AS id, e.reason_code AS code FROM application_events e
  WHERE e.application_id = ANY ($1::bigint[]) AND e.to_status <> e.from_status ORDER BY e.application_id, e.id DESC`;
const PAUSED = 'SELECT name FROM paused_templates WHERE name = ANY ($1)';

/**
 * The reasons that these messages tell (D50). None where the channel has refused the template that tells them: the one
 * without reasons goes out, so that a brand which has had only that one approved goes on.
 */
async function reasonsOf(
  claim: Transaction,
  all: readonly Telling[],
): Promise<ReadonlyMap<MessageId, readonly WordedReason[]>> {
  if (all.length === 0) return new Map();
  const templateOf = ({ batch }: Telling) => templateNames(batch.brand.templates).rejected_reasons;
  const names = [...new Set(all.map(templateOf))];
  const { rows: paused } = await claim.query<{ name: string }>(PAUSED, [names]);
  const telling = all.filter((one) => !paused.some(({ name }) => name === templateOf(one)));
  const ids = telling.map(({ messageId }) => applicationOfMessage(messageId));
  const { rows: codes } = await claim.query<{ id: ApplicationId; code: ReasonCode | null }>(REVIEW_CODES, [
    ids,
  ]);
  const reviews = new Map(codes.map(({ id, code }) => [id, code]));
  const decided = await readReasons(
    claim,
    telling.map(({ batch: { policyId, facts }, position }) => ({
      policyId,
      facts: facts.subarray(position * FACT_BYTES, (position + 1) * FACT_BYTES),
    })),
  );
  return new Map(
    telling.map(({ messageId }, index) => [
      messageId,
      refusalReasons(reviews.get(applicationOfMessage(messageId)) ?? null, decided[index]!),
    ]),
  );
}

function indexAt<Kind extends BlindIndexKind>(
  stored: readonly (string | null)[],
  position: number,
): BlindIndex<Kind> | null {
  const index = stored[position] ?? null;
  return index === null ? null : fromBigint(index);
}

/** The stand-in for a deleted batch, whose applicants count as erased. */
function goneBatch(id: BatchId): ClaimedBatch {
  const facts = Buffer.alloc(FACTS_BYTES);
  return {
    id,
    phones: [],
    idNumbers: [],
    facts,
    policyId: 0,
    partnerId: toPartnerId(0),
    partnerName: '',
    brand: {},
  };
}
