/**
 * Claims due replies, and reads the persons whom they go to (docs/messages.md, "Replies"). Calls `claim_replies`, and
 * reads envelopes.
 */
import { type ApplicationId, type BlindIndex, partitionOf } from '../../../../domain/application/ids.ts';
import type { ReplyId } from '../../../../domain/message/reply.ts';
import type { Transaction } from '../../../../ground/postgres/database.ts';
import { readIndex } from '../../../../seal/blind-indexes.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import {
  type Person,
  readPersonalData,
  SEALED_COLUMNS,
  type SealedRow,
} from '../../../applications/sql/personal-data.ts';

/** A locked reply, with the person whom it goes to. */
export interface ClaimedReply extends LockedReply {
  /** It has no record if the application is erased or gone. */
  readonly person: Person;
}

/** A reply that this transaction has locked. */
export interface LockedReply {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly turn: number;
  /** The number of the next send, counted from 1. */
  readonly attempt: number;
  /** Sealed. */
  readonly content: Buffer;
  readonly phoneIndex: BlindIndex<'phone'>;
}

const CLAIM = `
  SELECT id AS "replyId", application_id::float8 AS "applicationId", turn, attempts + 1 AS attempt, content,
    ${readIndex('phone_index')} AS "phoneIndex"
  FROM claim_replies($1, $2)`;
/**
 * A statement of its own, because on a cluster a statement about a table of the coordinator may not ask other machines.
 */
const PERSONS = `SELECT a.id::float8, ${SEALED_COLUMNS} FROM applications_of($1::bigint[]) a`;
const GONE: Person = { record: null, fault: null };

/**
 * Locks up to `limit` due replies of few partitions until the end of the transaction, but no more than the sender's
 * rate allows.
 */
export async function claimReplies(
  claim: Transaction,
  limit: number,
  messagesPerSecond: number | null,
): Promise<readonly LockedReply[]> {
  const values = [limit, messagesPerSecond];
  const { rows } = await claim.query<LockedReply>({ name: 'claim_replies', text: CLAIM, values });
  // The others are released at the end of the transaction.
  const [few = []] = byPartitions(rows, ({ applicationId }) => partitionOf(applicationId));
  return few;
}

/** Reads the persons whom claimed replies go to. */
export async function readReplies(
  claim: Transaction,
  vault: Vault,
  replies: readonly LockedReply[],
): Promise<ClaimedReply[]> {
  const ids = [...new Set(replies.map(({ applicationId }) => applicationId))];
  const found = await claim.query<SealedRow & { id: ApplicationId }>(PERSONS, [ids]);
  const persons = await readPersonalData(claim, vault, found.rows, ['phone']);
  const byId = new Map(persons.map(({ row, person }) => [row.id, person]));
  return replies.map((reply) => ({ ...reply, person: byId.get(reply.applicationId) ?? GONE }));
}
