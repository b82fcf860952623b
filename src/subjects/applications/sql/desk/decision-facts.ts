/**
 * Reads, and locks, the facts that an operator's decision is about and depends on (D46, D48). Reads `applications_of`
 * and `application_states`; locks by `hold_application`.
 */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../../domain/application/lifecycle.ts';
import type { Decision } from '../../../../domain/scorecard/scorecard.ts';
import type { Session, Transaction } from '../../../../ground/postgres/database.ts';
import { byPartitions } from '../partition-runs.ts';

/** The facts of an application that a decision needs. */
export interface DecisionFacts {
  readonly partnerId: number;
  /** null, like all members but the last one, if the stored data cannot be read. */
  readonly status: ApplicationStatus | null;
  readonly score: number | null;
  /** What the score said. */
  readonly decision: Decision | null;
  readonly currency: string | null;
  readonly debtAmount: number | null;
  readonly signedAt: Date | null;
}

const FACTS = `
  SELECT a.id, a.partner_id, a.status, a.score, a.decision, a.currency, a.debt_amount, a.signed_at
  FROM applications_of($1::bigint[]) AS a`;

/**
 * The facts of these applications; one that does not exist is absent. On a cluster, call it before the transaction
 * writes anything (docs/scale.md).
 */
export async function readDecisionFacts(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, DecisionFacts>> {
  const facts = new Map<ApplicationId, DecisionFacts>();
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<{
      id: string;
      partner_id: number;
      status: ApplicationStatus | null;
      score: number | null;
      decision: Decision | null;
      currency: string | null;
      debt_amount: number | null;
      signed_at: Date | null;
    }>(FACTS, [some]);
    for (const { id, partner_id, debt_amount, signed_at, ...rest } of rows) {
      const named = { partnerId: partner_id, debtAmount: debt_amount, signedAt: signed_at };
      facts.set(toApplicationId(id), { ...rest, ...named });
    }
  }
  return facts;
}

const HELD = `
  SELECT s.withdrawable_until FROM application_states s
  WHERE s.batch_id = batch_of($1) AND s.application_id = $1 AND s.conversation_at IS NOT NULL
    AND (s.signed_at IS NULL OR s.withdrawable_until > clock_timestamp())`;

/**
 * Whether the contract keeps an application from being paid out now (D46; `move_application` has the last word), and
 * until when the applicant may withdraw: null if nothing is signed.
 */
export async function heldByContract(
  session: Session,
  id: ApplicationId,
): Promise<{ readonly until: Date | null } | null> {
  const [row] = (await session.query<{ withdrawable_until: Date | null }>(HELD, [id])).rows;
  return row === undefined ? null : { until: row.withdrawable_until };
}

const HOLD = 'SELECT status, signed_at, last_event::text FROM hold_application($1)';

/**
 * Locks an application against every review and signature until the end of the transaction, and returns the facts that
 * a decision needs; null: there is no such application.
 */
export async function holdApplication(
  session: Transaction,
  id: ApplicationId,
): Promise<{
  readonly status: ApplicationStatus | null;
  readonly signedAt: Date | null;
  readonly lastEvent: string;
} | null> {
  const [row] = (
    await session.query<{ status: ApplicationStatus | null; signed_at: Date | null; last_event: string }>(
      HOLD,
      [id],
    )
  ).rows;
  if (row === undefined) return null;
  return { status: row.status, signedAt: row.signed_at, lastEvent: row.last_event };
}
