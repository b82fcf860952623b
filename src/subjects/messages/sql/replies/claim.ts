/** The statements that take replies up. */
import {
  type ApplicationId,
  type BlindIndex,
  partitionOf,
  toApplicationId,
} from '../../../../domain/application/ids.ts';
import type { ReplyId } from '../../../../domain/message/reply.ts';
import type { Transaction } from '../../../../ground/postgres/database.ts';
import { fromBigint } from '../../../../seal/blind-indexes.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import {
  type Person,
  readPersonalData,
  SEALED_COLUMNS,
  type SealedRow,
} from '../../../applications/sql/personal-data.ts';

/** A locked reply, with the person whom it goes to. */
export interface ClaimedReply {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly turn: number;
  /** The number of the next send, from 1. */
  readonly attempt: number;
  /** Sealed. */
  readonly content: Buffer;
  readonly phoneIndex: BlindIndex<'phone'>;
  /** Without a record where the application is erased or gone. */
  readonly person: Person;
}

/** A reply that this transaction has locked. */
export interface ClaimedRow {
  id: ReplyId;
  application_id: string;
  turn: number;
  attempts: number;
  content: Buffer;
  phone_index: string;
}

const CLAIM = 'SELECT id, application_id, turn, attempts, content, phone_index FROM claim_replies($1, $2)';
/** A statement of its own: on a cluster, a statement about a table of the coordinator may not ask other machines. */
const PERSONS = `SELECT a.id, ${SEALED_COLUMNS} FROM applications_of($1::bigint[]) a`;
const GONE: Person = { record: null, fault: null };

/**
 * Locks up to `limit` due replies of few partitions, no more than the sender's rate allows, until the end of the
 * transaction.
 */
export async function claimReplies(
  claim: Transaction,
  limit: number,
  messagesPerSecond: number | null,
): Promise<readonly ClaimedRow[]> {
  const values = [limit, messagesPerSecond];
  const { rows } = await claim.query<ClaimedRow>({ name: 'claim_replies', text: CLAIM, values });
  // The others are free again with the end of the transaction.
  const [few = []] = byPartitions(rows, ({ application_id }) => partitionOf(toApplicationId(application_id)));
  return few;
}

/** Reads the persons whom claimed replies go to. */
export async function readReplies(
  claim: Transaction,
  vault: Vault,
  rows: readonly ClaimedRow[],
): Promise<ClaimedReply[]> {
  const ids = [...new Set(rows.map(({ application_id }) => application_id))];
  const found = await claim.query<SealedRow & { id: string }>(PERSONS, [ids]);
  const persons = await readPersonalData(claim, vault, found.rows, ['phone']);
  const byId = new Map(persons.map(({ row, person }) => [row.id, person]));
  return rows.map((row) => ({
    replyId: row.id,
    applicationId: toApplicationId(row.application_id),
    turn: row.turn,
    attempt: row.attempts + 1,
    content: row.content,
    phoneIndex: fromBigint(row.phone_index),
    person: byId.get(row.application_id) ?? GONE,
  }));
}
