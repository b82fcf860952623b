/** What a score leans to, and decisions against it. Pure. */
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';

/** From this score on it leans to an approval, below it to a rejection. */
const LEANS_TO_APPROVE_FROM = 50;

/** Whether a decision is against what the score leans to. No score leans to nothing, and no payment is against one. */
export function isAgainstScore(act: ReviewAction, score: number | null): boolean {
  if (score === null || act === 'disburse') return false;
  return score >= LEANS_TO_APPROVE_FROM !== (act === 'approve');
}
