/** The statuses of an application and the reviews that change them (contract, "States and transitions"; D34). Pure. */
import type { Decision } from '../scorecard/scorecard.ts';

export const APPLICATION_STATUSES = ['pending_signature', 'in_review', 'rejected', 'disbursed'] as const;
export type ApplicationStatus = (typeof APPLICATION_STATUSES)[number];

/** The status of a new application, by its decision (contract, "Outcome at creation"). */
export const INITIAL_STATUS = {
  approved: 'pending_signature',
  in_review: 'in_review',
  rejected: 'rejected',
} as const satisfies Record<Decision, ApplicationStatus>;

/** How the history names the applicant. */
export const APPLICANT = 'applicant';

export const REVIEW_ACTIONS = ['approve', 'reject', 'disburse'] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** The statuses of open applications. An open application holds its phone, a final one does not (D35). */
const OPEN_STATUSES: readonly ApplicationStatus[] = ['in_review', 'pending_signature'];

/** The statuses that each review is allowed in, and the status that the review leads to. */
export const TRANSITIONS: Readonly<
  Record<ReviewAction, { readonly from: readonly ApplicationStatus[]; readonly to: ApplicationStatus }>
> = {
  approve: { from: ['in_review'], to: 'pending_signature' },
  reject: { from: OPEN_STATUSES, to: 'rejected' },
  disburse: { from: ['pending_signature'], to: 'disbursed' },
};

/** Whether an application is open. */
export function isOpen(status: ApplicationStatus): boolean {
  return OPEN_STATUSES.includes(status);
}

/**
 * Entries of the history that change no status, beside the applicant's tap: a freed phone, what D50 lets ask, and a
 * correction of the person's data.
 */
export const NOTED_ACTIONS = [
  'free_phone',
  'review_asked',
  'review_answered',
  'data_asked',
  'data_answered',
  'correct',
] as const;
export type NotedAction = (typeof NOTED_ACTIONS)[number];
