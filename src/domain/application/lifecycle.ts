/** The states of an application and what moves between them (contract, "States and transitions"; D34). */
import type { Decision } from '../scoring/scorecard.ts';

export const STATUSES = ['pending_signature', 'in_review', 'rejected', 'disbursed'] as const;
export type Status = (typeof STATUSES)[number];

export const INITIAL_STATUS: Readonly<Record<Decision, Status>> = {
  approved: 'pending_signature',
  in_review: 'in_review',
  rejected: 'rejected',
};

export const ACTIONS = ['approve', 'reject', 'disburse'] as const;
export type Action = (typeof ACTIONS)[number];

/** From which states an action leads where; anything else is refused. */
export const TRANSITIONS: Readonly<
  Record<Action, { readonly from: readonly Status[]; readonly to: Status }>
> = {
  approve: { from: ['in_review'], to: 'pending_signature' },
  reject: { from: ['in_review', 'pending_signature'], to: 'rejected' },
  disburse: { from: ['pending_signature'], to: 'disbursed' },
};

/** An open application holds its phone; a final one has left it (D35). */
export function isOpen(status: Status): boolean {
  return status !== 'rejected' && status !== 'disbursed';
}
