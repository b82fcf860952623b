/** The statements that take replies up. */
import {
  type ApplicationId,
  type BlindIndex,
  partitionOf,
  toApplicationId,
} from '../../../../domain/application/ids.ts';
import { type ReplyId, toReplyId } from '../../../../domain/message/reply.ts';
import { type Database, inTransaction, type Transaction } from '../../../../ground/postgres/database.ts';
import { isRowFault } from '../../../../ground/postgres/row-fault.ts';
import { fromBigint } from '../../../../seal/blind-indexes.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { byPartitions } from '../../../applications/sql/partition-runs.ts';
import {
  type Person,
  readPersonalData,
  SEALED_COLUMNS,
  type SealedRow,
} from '../../../applications/sql/personal-data.ts';

/** A reply that this transaction has locked, with the person whom it goes to. */
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

/** A claimed reply makes the work on all of them fail. None of them is claimed any more. */
export class ReplyFault extends Error {
  override readonly name = 'ReplyFault';
  readonly replyIds: readonly ReplyId[];

  constructor(replyIds: readonly ReplyId[], cause: unknown) {
    super('a claimed reply stops the others', { cause });
    this.replyIds = replyIds;
  }
}

interface ClaimedRow {
  id: string;
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
 * Claims up to `limit` due replies of few partitions, no more than the sender's rate allows, and lets `work` decide on
 * them in one transaction. Returns null if no reply may go out. Throws `ReplyFault` if the stored data of a reply makes
 * the work fail.
 */
export async function claimReplies<T>(
  database: Database,
  vault: Vault,
  limit: number,
  messagesPerSecond: number | null,
  work: (replies: readonly ClaimedReply[], claim: Transaction) => Promise<T>,
): Promise<T | null> {
  return inTransaction(database, async (claim) => {
    const { rows } = await claim.query<ClaimedRow>({
      name: 'claim_replies',
      text: CLAIM,
      values: [limit, messagesPerSecond],
    });
    // The others are free again with the end of the transaction.
    const [few] = byPartitions(rows, ({ application_id }) => partitionOf(toApplicationId(application_id)));
    if (few === undefined) return null;
    try {
      return await work(await withPersons(claim, vault, few), claim);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      throw new ReplyFault(
        few.map(({ id }) => toReplyId(id)),
        error,
      );
    }
  });
}

async function withPersons(
  claim: Transaction,
  vault: Vault,
  rows: readonly ClaimedRow[],
): Promise<ClaimedReply[]> {
  const ids = [...new Set(rows.map(({ application_id }) => application_id))];
  const found = await claim.query<SealedRow & { id: string }>(PERSONS, [ids]);
  const persons = await readPersonalData(claim, vault, found.rows, ['phone']);
  const byId = new Map(persons.map(({ row, person }) => [row.id, person]));
  return rows.map((row) => ({
    replyId: toReplyId(row.id),
    applicationId: toApplicationId(row.application_id),
    turn: row.turn,
    attempt: row.attempts + 1,
    content: row.content,
    phoneIndex: fromBigint(row.phone_index),
    person: byId.get(row.application_id) ?? GONE,
  }));
}
