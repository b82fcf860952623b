/** The keys by which operators may repeat a request: to propose, to claim, to reveal. It counts once. */
import { createHash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { toApplicationId } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { onlyRow } from '../../../ground/postgres/only-row.ts';
import type { BulkResult } from '../rules/proposal.ts';

/** What became of one application of a request; `proposalId` null: it was not proposed. */
export interface Outcome {
  readonly id: ApplicationId;
  readonly result: BulkResult;
  readonly proposalId: number | null;
}

/** A request by an operator's key. */
export interface KeyedRequest {
  readonly operatorId: number;
  readonly key: string;
  /** SHA-256 of what is asked for. */
  readonly digest: Buffer;
}

const TAKE = `
  INSERT INTO desk_requests (operator_id, request_key, digest) VALUES ($1, $2, $3)
  ON CONFLICT (operator_id, request_key) DO NOTHING`;
/** How long a key stands for a reading of personal data: later, to read is another reading. */
const RECENT_MINUTES = 10;
const READ = `
  SELECT r.digest = $3 AS is_same, r.digest = ''::bytea AS is_undone, r.ids,
    r.stored_ms > elapsed_ms() - ms_of(interval '${RECENT_MINUTES} minutes') AS is_recent,
    r.results, r.proposal_ids FROM desk_requests r
  WHERE r.operator_id = $1 AND r.request_key = $2`;
const KEEP = `
  UPDATE desk_requests SET ids = $3, results = $4, proposal_ids = $5 WHERE operator_id = $1 AND request_key = $2`;

/** The request of an operator with a key; null: it has none. `asked` is all that it asks for. */
export function keyedRequest(operatorId: number, key: string | null, asked: unknown): KeyedRequest | null {
  if (key === null) return null;
  return { operatorId, key, digest: createHash('sha256').update(JSON.stringify(asked)).digest() };
}

/** What takes the place of the digest of a decision on many whose undo came first. */
const UNDONE = Buffer.alloc(0);

/** What stands for a key whose decision on many is to be undone, so that it is not begun any more. */
export function undoneRequest(operatorId: number, key: string): KeyedRequest {
  return { operatorId, key, digest: UNDONE };
}

/** What became of the first request with a key. */
interface Before {
  readonly outcomes: Outcome[];
  readonly isRecent: boolean;
}

/** Why a key stands for no request like this one. */
export type SpentKey = 'other' | 'undone';

/**
 * Takes a key. `new`: the transaction has it now, and another request with it waits for its end. Else what became of
 * the first request; `other` where that one asked for something else, `undone` where an undo came first.
 */
export async function takeRequest(
  session: Transaction,
  { operatorId, key, digest }: KeyedRequest,
): Promise<'new' | SpentKey | Before> {
  if ((await session.query(TAKE, [operatorId, key, digest])).rowCount === 1) return 'new';
  const { rows } = await session.query<{
    is_same: boolean;
    is_undone: boolean;
    is_recent: boolean;
    ids: string[];
    results: BulkResult[];
    proposal_ids: (string | null)[];
  }>(READ, [operatorId, key, digest]);
  const { is_same, is_undone, is_recent, ids, results, proposal_ids } = onlyRow(rows);
  if (!is_same) return is_undone ? 'undone' : 'other';
  const outcomes = ids.map((id, n) => {
    const proposalId = proposal_ids[n] ?? null;
    return {
      id: toApplicationId(id),
      result: results[n]!,
      proposalId: proposalId === null ? null : Number(proposalId),
    };
  });
  return { outcomes, isRecent: is_recent };
}

/** Keeps what became of the request that the transaction has taken. */
export async function keepOutcomes(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
  outcomes: readonly Outcome[],
): Promise<void> {
  await session.query(KEEP, [
    ...[operatorId, key],
    outcomes.map(({ id }) => id),
    outcomes.map(({ result }) => result),
    outcomes.map(({ proposalId }) => proposalId),
  ]);
}

const KEEP_CLAIMED = 'UPDATE desk_requests SET ids = $3 WHERE operator_id = $1 AND request_key = $2';

/** Keeps which application the request claimed. A repetition that had to claim another one keeps that one. */
export async function keepClaimed(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
  id: ApplicationId,
): Promise<void> {
  await session.query(KEEP_CLAIMED, [operatorId, key, [id]]);
}
