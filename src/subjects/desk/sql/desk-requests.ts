/** The keys by which operators may repeat a request: to propose, to claim, to reveal. It counts once. */
import { createHash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { toApplicationId } from '../../../domain/application/ids.ts';
import { onlyRow, type Transaction } from '../../../ground/postgres/database.ts';
import type { BulkResult } from '../rules/proposal.ts';

/** What became of one application of a request; `proposalId` null: it was not proposed. */
export interface RequestOutcome {
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
/** What became of a request, as JSON; $3: the digest of the one that comes now. */
export const REQUEST_BEFORE = `json_build_object('isSame', r.digest = $3, 'isUndone', r.digest = ''::bytea,
  'isRecent', r.stored_ms > elapsed_ms() - ms_of(interval '${RECENT_MINUTES} minutes'),
  'ids', r.ids, 'results', r.results, 'proposalIds', r.proposal_ids)`;
const READ = `
  SELECT ${REQUEST_BEFORE} AS before FROM desk_requests r WHERE r.operator_id = $1 AND r.request_key = $2`;

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
  const { rows } = await session.query<{ before: RequestBefore }>(READ, [operatorId, key, digest]);
  return beforeOf(onlyRow(rows).before);
}

/** What a key stands for, that an earlier request has taken. */
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

const KEEP_CLAIMED = 'UPDATE desk_requests SET ids = $3 WHERE operator_id = $1 AND request_key = $2';

/** Keeps which application the request claimed. A repetition that had to claim another one keeps that one. */
export async function keepClaimed(
  session: Transaction,
  { operatorId, key }: KeyedRequest,
  id: ApplicationId,
): Promise<void> {
  await session.query(KEEP_CLAIMED, [operatorId, key, [id]]);
}
