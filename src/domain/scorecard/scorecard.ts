/** Scores an application by a policy and decides. Pure: the same input gives the same result. */
import type { Application } from '../application/fields.ts';
import { CRITERIA, type Points, type Policy } from './policy.ts';

export const DECISIONS = ['approved', 'in_review', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The limits of the amount, as the code of a rejection names them to a partner (D29, D41). */
export const LIMIT_CODES = ['amount_above_limit', 'installment_above_income'] as const;
export type LimitCode = (typeof LIMIT_CODES)[number];

/** The result of the scorecard for one application. */
export interface Assessment {
  readonly points: Points;
  /** 0 to 100: the sum of the points. */
  readonly score: number;
  readonly decision: Decision;
}

/** The level monthly payment of one unit of debt (annuity; D27). With a rate of 0 it is 1 / months. */
export function installmentFactor(policy: Policy): number {
  const { months, monthly_rate: rate } = policy.reference_installment;
  return rate === 0 ? 1 / months : rate / (1 - (1 + rate) ** -months);
}

/** Points per criterion, their sum and the decision (contract, "Outcome at creation"; D27-D29). */
export function assess(application: Application, policy: Policy): Assessment {
  const capacity = capacityOf(application, policy);
  const points: Points = {
    payment_capacity: paymentCapacityPoints(capacity, policy),
    channel: policy.channel.gig,
    debt_age: policy.debt_age[application.debt_age],
    num_debts: policy.num_debts[application.num_debts],
    prior_history: policy.prior_history[application.prior_history],
  };
  let score = 0;
  for (const criterion of CRITERIA) score += points[criterion];
  const isRejected = passedLimit(application, policy, capacity) !== null;
  return { points, score, decision: isRejected ? 'rejected' : decide(score, policy) };
}

type Amounts = Pick<Application, 'income' | 'debt_amount' | 'currency'>;

/** The monthly income in reference installments (D27). */
function capacityOf({ income, debt_amount }: Amounts, policy: Policy): number {
  return income / (debt_amount * installmentFactor(policy));
}

function paymentCapacityPoints(capacity: number, policy: Policy): number {
  for (const band of policy.payment_capacity) if (capacity >= band.min_ratio) return band.points;
  return 0;
}

/** The limit that the amount passes, which rejects with any score; null: none (D29). */
export function passedLimit(
  application: Amounts,
  policy: Policy,
  capacity = capacityOf(application, policy),
): LimitCode | null {
  const { usd, rates, max_installment_share: share } = policy.amount_limit;
  if (application.debt_amount > usd * rates[application.currency]) return 'amount_above_limit';
  return share !== undefined && capacity * share < 1 ? 'installment_above_income' : null;
}

function decide(score: number, policy: Policy): Decision {
  if (score >= policy.decision.approved) return 'approved';
  return score >= policy.decision.in_review ? 'in_review' : 'rejected';
}
