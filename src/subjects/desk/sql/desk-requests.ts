/**
 * The Idempotency-Keys of operators' requests, so that a repeated request to propose, claim or reveal counts once
 * (docs/operators.md, "Proposals"). Reads and writes `desk_requests`.
 */
import { createHash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { toApplicationId } from '../../../domain/application/ids.ts';
import { onlyRow, type Transaction } from '../../../ground/postgres/database.ts';
import type { BulkResult } from '../rules/proposal.ts';

/** What became of one application of a request; `proposalId` null: nothing was proposed. */
export interface RequestOutcome {
  readonly id: ApplicationId;
  readonly result: BulkResult;
  readonly proposalId: number | null;
}

/** A request by an operator's key. */
export interface KeyedRequest {
  readonly operatorId: number;
  readonly key: string;
  /** The SHA-256 of what the request asks for. */
  readonly digest: Buffer;
}

const TAKE = `
  INSERT INTO desk_requests (operator_id, request_key, digest) VALUES ($1, $2, $3)
  ON CONFLICT (operator_id, request_key) DO NOTHING`;
/** For how long a key stands for a reading of personal data. A later reading is a new one. */
const RECENT_MINUTES = 10;
/** What became of a request, as JSON. $3 is the digest of the request that comes now. */
export const REQUEST_BEFORE = `json_build_object('isSame', r.digest = $3, 'isUndone', r.digest = ''::bytea,
  'isRecent', r.stored_ms > elapsed_ms() - ms_of(interval '${RECENT_MINUTES} minutes'),
  'ids', r.ids, 'results', r.results, 'proposalIds', r.proposal_ids)`;
const READ = `
  SELECT ${REQUEST_BEFORE} AS before FROM desk_requests r WHERE r.operator_id = $1 AND r.request_key = $2`;

/** The request of an operator with a key; null: it has no key. `asked` is everything that it asks for. */
export function keyedRequest(operatorId: number, key: string | null, asked: unknown): KeyedRequest | null {
  if (key === null) return null;
  return { operatorId, key, digest: createHash('sha256').update(JSON.stringify(asked)).digest() };
}

/** Stands in the place of the digest if the undo of a decision on many came before the decision. */
const UNDONE = Buffer.alloc(0);

/** The request that stands for the undo of a decision on many, so that the decision cannot begin afterwards. */
export function undoneRequest(operatorId: number, key: string): KeyedRequest {
  return { operatorId, key, digest: UNDONE };
}

/** What became of the first request with a key. */
export interface Before {
  readonly outcomes: RequestOutcome[];
  readonly isRecent: boolean;
}

/** A value of `REQUEST_BEFORE`. */
export interface RequestBefore {
  readonly isSame: boolean;
  readonly isUndone: boolean;
  readonly isRecent: boolean;
  readonly ids: readonly number[];
  readonly results: readonly BulkResult[];
  readonly proposalIds: readonly (number | null)[];
}

/** Why a key cannot be used for this request. */
export type SpentKey = 'other' | 'undone';

/**
 * Takes a key. `new`: this transaction has it now, and another request with it waits for the end of the transaction.
 * Otherwise returns what became of the first request: `other` if that one asked for something else, `undone` if an undo
 * came first.
 */
export async function takeRequest(
  session: Transaction,
  { operatorId, key, digest }: KeyedRequest,
): Promise<'new' | SpentKey | Before> {
  if ((await session.query(TAKE, [operatorId, key, digest])).rowCount === 1) return 'new';
  const { rows } = await session.query<{ before: RequestBefore }>(READ, [operatorId, key, digest]);
  return beforeOf(onlyRow(rows).before);
}

/** What a key stands for that an earlier request has taken. */
export function beforeOf({
  isSame,
  isUndone,
  isRecent,
  ids,
  results,
  proposalIds,
}: RequestBefore): SpentKey | Before {
  if (!isSame) return isUndone ? 'undone' : 'other';
  const outcomes = ids.map((id, n) => ({
    id: toApplicationId(id),
    result: results[n]!,
    proposalId: proposalIds[n] ?? null,
  }));
  return { outcomes, isRecent };
}

const KEEP_TURN = 'UPDATE desk_requests SET turn = $3 WHERE operator_id = $1 AND request_key = $2';
const TURN = 'SELECT turn FROM desk_requests WHERE operator_id = $1 AND request_key = $2';

/** Stores the turn of the reply that the request sent. */
export async function keepTurn(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
  turn: number,
): Promise<void> {
  await session.query(KEEP_TURN, [operatorId, key, turn]);
}

/** The turn of the reply that the request sent; null: it sent none. */
export async function turnOfRequest(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
): Promise<number | null> {
  return onlyRow((await session.query<{ turn: number | null }>(TURN, [operatorId, key])).rows).turn;
}

const KEEP_CLAIMED = 'UPDATE desk_requests SET ids = $3 WHERE operator_id = $1 AND request_key = $2';

/** Stores which application the request claimed. If a repetition had to claim another one, that one is stored. */
export async function keepClaimed(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
  id: ApplicationId,
): Promise<void> {
  await session.query(KEEP_CLAIMED, [operatorId, key, [id]]);
}
