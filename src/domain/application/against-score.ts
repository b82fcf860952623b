/** Which decisions are against the score (docs/operators.md, "The lead's view and second looks"). Pure. */
import type { ReviewAction } from './lifecycle.ts';

/** From this score on, a score leans to an approval, below it to a rejection. */
const LEANS_TO_APPROVE_FROM = 50;

/**
 * Whether a decision is against what the score leans to. Without a score there is no lean, and a payment is never
 * against it.
 */
export function isAgainstScore(act: ReviewAction, score: number | null): boolean {
  if (score === null || act === 'disburse') return false;
  return score >= LEANS_TO_APPROVE_FROM !== (act === 'approve');
}
