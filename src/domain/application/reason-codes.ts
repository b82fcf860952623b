/**
 * The reason codes of reviews: why a review moved an application, in words that a partner may read (D41; contract,
 * "Partner event"). No partner sees the free text of the reason. Pure.
 */
import { REVIEW_ACTIONS, type ReviewAction } from './lifecycle.ts';

/** The code of a review without one. */
export const UNSPECIFIED = 'unspecified';

/** The codes of each action, in the order in which help and documents list them. */
export const REASON_CODES = {
  approve: ['documents_verified', 'income_verified', 'exception_granted', UNSPECIFIED],
  reject: [
    'documents_missing',
    'documents_invalid',
    'identity_not_verified',
    'income_not_verified',
    'insufficient_capacity',
    'suspected_fraud',
    'applicant_withdrew',
    'contract_withdrawn',
    'offer_expired',
    'data_erased',
    UNSPECIFIED,
  ],
  disburse: ['funds_transferred', UNSPECIFIED],
} as const satisfies Readonly<Record<ReviewAction, readonly string[]>>;

export type ReasonCode = (typeof REASON_CODES)[ReviewAction][number];

/**
 * Codes that say what the service itself has found or done: a withdrawal (D46), after which the applicant gets no
 * message about the rejection, and an erasure. No operator gives them to a review.
 */
const OF_SERVICE: readonly ReasonCode[] = ['contract_withdrawn', 'data_erased'];

/** The codes of an action that an operator may give, in the same order. */
export function codesOfOperators(action: ReviewAction): ReasonCode[] {
  return REASON_CODES[action].filter((code) => !OF_SERVICE.includes(code));
}

/** The codes of all actions, each once. */
export const ALL_REASON_CODES: readonly ReasonCode[] = [...new Set(Object.values(REASON_CODES).flat())];

/** The actions that take a code. */
export function actionsOf(code: ReasonCode): ReviewAction[] {
  return REVIEW_ACTIONS.filter((action) => {
    const codes: readonly ReasonCode[] = REASON_CODES[action];
    return codes.includes(code);
  });
}
