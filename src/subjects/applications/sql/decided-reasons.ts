/**
 * Reads the reasons of decisions from the facts of batches, each by the policy that decided it (D50): for many
 * applications at once. Reads `batches` and `policies`.
 */

import { type ApplicationId, batchAndPositionOf, partitionOf } from '../../../domain/application/ids.ts';
import type { ReasonWords } from '../../../domain/scorecard/document.ts';
import { reasonWords } from '../../../domain/scorecard/reasons.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { readPolicies } from '../../policies/sql/policies.ts';
import { byPartitions } from './partition-runs.ts';
import { FACT_BYTES } from './prepared-batch.ts';
import { DecidedFacts } from './read-facts.ts';

/** The columns of a `DecidedRow`, of the table `batches` (alias `b`) and of a position. */
export const decidedColumns = (position: string) =>
  `b.policy_id AS "policyId", substring(b.facts FROM ${FACT_BYTES} * ${position} + 1 FOR ${FACT_BYTES}) AS facts`;

/** What one application was decided by. */
export interface DecidedRow {
  readonly policyId: number;
  readonly facts: Buffer;
}

/** A reason; `words` are null of a code that its policy does not know any more. */
export interface DecidedReason {
  readonly code: string;
  readonly words: ReasonWords | null;
}

const READ = `
  SELECT g.id::float8, ${decidedColumns('position_of(g.id)')}
  FROM unnest($1::bigint[]) AS g(id) JOIN batches b ON b.id = batch_of(g.id) AND b.id = ANY ($2::bigint[])`;

/** The reasons of each of these applications' decisions. */
export async function reasonsOfApplications(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, readonly DecidedReason[]>> {
  const found: (DecidedRow & { readonly id: ApplicationId })[] = [];
  for (const some of byPartitions([...new Set(ids)], partitionOf)) {
    const batchIds = [...new Set(some.map((id) => batchAndPositionOf(id).batchId))];
    found.push(...(await session.query<DecidedRow & { id: ApplicationId }>(READ, [some, batchIds])).rows);
  }
  const reasons = await readReasons(session, found);
  return new Map(found.map(({ id }, index) => [id, reasons[index]!]));
}

/** The reasons of these decisions, in their order. Approvals and damaged facts have none. */
export async function readReasons(
  session: Session,
  rows: readonly DecidedRow[],
): Promise<(readonly DecidedReason[])[]> {
  if (rows.length === 0) return [];
  const policies = await readPolicies(session, [...new Set(rows.map(({ policyId }) => policyId))]);
  const decided = new DecidedFacts();
  return rows.map(({ policyId, facts }) => {
    if (decided.begin(facts) === 0 || decided.read(0) !== 'read' || decided.decision === 'approved')
      return [];
    const card = policies.get(policyId)?.card;
    return (card?.decide(decided.facts).reasons ?? []).map((code) => ({
      code,
      words: reasonWords(code, card?.document.reasons),
    }));
  });
}
