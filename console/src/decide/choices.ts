/** What an operator may do with an application as it stands. The service decides; the page only offers nothing else. */
import { REVIEW_ACTIONS, type ReviewAction, TRANSITIONS } from '../../../src/domain/application/lifecycle.ts';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { ListedProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';

export interface Choices {
  readonly acts: readonly ReviewAction[];
  readonly mayPend: boolean;
  readonly mayResume: boolean;
  /** The open proposal; null: there is none. */
  readonly open: ListedProposalReply | null;
  /** It waits for a second operator, and this one may be it. */
  readonly mayConfirm: boolean;
}

export function choicesOf(application: ApplicationReply, operatorId: number): Choices {
  const { status, review, proposal } = application;
  const open = proposal?.state === 'proposed' ? proposal : null;
  const acts = REVIEW_ACTIONS.filter(
    (act) =>
      open === null &&
      review?.state !== 'pended' &&
      status !== null &&
      TRANSITIONS[act].from.includes(status),
  );
  return {
    acts,
    mayPend: open === null && review?.state === 'waiting',
    mayResume: open === null && review?.state === 'pended',
    open,
    mayConfirm: open?.needs_second != null && open.second === null && open.by.id !== operatorId,
  };
}

/** The keys of the acts, here and in the help. */
export const ACT_KEYS: Readonly<Record<ReviewAction, string>> = { approve: 'a', reject: 'r', disburse: 'd' };

/** The key that picks the reason code at a place: 1 to 9, and 0 for the last one where there are more. */
export function keyOfCode(index: number, count: number): string | null {
  if (index < 9) return String(index + 1);
  return index === count - 1 ? '0' : null;
}
