/**
 * Counts applied decisions of the desk by hour, in `decision_hours`; decisions of the command line are not counted
 * (docs/operators.md, "The lead's view and second looks"). Calls `count_decision`.
 */
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

const COUNT = 'SELECT count_decision($1, $2, $3, $4)';

/** Counts a decision, in the transaction that applies it. */
export async function countDecision(
  session: Transaction,
  decision: {
    readonly operatorId: number;
    readonly act: ReviewAction;
    readonly reasonCode: ReasonCode;
    readonly isAgainstScore: boolean;
  },
): Promise<void> {
  const { operatorId, act, reasonCode, isAgainstScore } = decision;
  await session.query(COUNT, [operatorId, act, reasonCode, isAgainstScore]);
}
