/** The keys by which operators may repeat a request to propose: it counts once. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { toApplicationId } from '../../applications/rules/ids.ts';
import type { Transaction } from '../../postgres/database.ts';
import { onlyRow } from '../../postgres/only-row.ts';
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
  INSERT INTO proposal_requests (operator_id, request_key, digest) VALUES ($1, $2, $3)
  ON CONFLICT (operator_id, request_key) DO NOTHING`;
const READ = `
  SELECT r.digest = $3 AS is_same, r.ids, r.results, r.proposal_ids FROM proposal_requests r
  WHERE r.operator_id = $1 AND r.request_key = $2`;
const KEEP = `
  UPDATE proposal_requests SET ids = $3, results = $4, proposal_ids = $5 WHERE operator_id = $1 AND request_key = $2`;

/**
 * Takes a key. `new`: the transaction has it now, and another request with it waits for its end. Else what became of
 * the first request, or `other` where that one asked for something else.
 */
export async function takeRequest(
  session: Transaction,
  { operatorId, key, digest }: KeyedRequest,
): Promise<'new' | 'other' | Outcome[]> {
  if ((await session.query(TAKE, [operatorId, key, digest])).rowCount === 1) return 'new';
  const { rows } = await session.query<{
    is_same: boolean;
    ids: string[];
    results: BulkResult[];
    proposal_ids: (string | null)[];
  }>(READ, [operatorId, key, digest]);
  const { is_same, ids, results, proposal_ids } = onlyRow(rows);
  if (!is_same) return 'other';
  return ids.map((id, n) => {
    const proposalId = proposal_ids[n] ?? null;
    return {
      id: toApplicationId(id),
      result: results[n]!,
      proposalId: proposalId === null ? null : Number(proposalId),
    };
  });
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
