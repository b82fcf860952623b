/** The codes of the queue and of proposals that have a text in each language. */
import type { REVIEW_ACTIONS } from '../../../src/domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../src/domain/application/reason-codes.ts';
import type {
  AGAINST,
  BULK_RESULTS,
  PROPOSAL_LISTS,
  PROPOSAL_STATES,
  RETURN_CODES,
  SECOND_REASONS,
} from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { QUEUE_ORDERS, QUEUE_STATES } from '../../../src/subjects/desk/routes/queue-forms.ts';
import type { CONFLICTS } from '../../../src/subjects/desk/rules/conflict.ts';
import type { MISSING } from '../../../src/subjects/desk/rules/pend.ts';

type Named<Codes extends readonly string[]> = Readonly<Record<Codes[number], string>>;

export interface DeskTexts {
  /** What is done: the words of a button. */
  readonly acts: Named<typeof REVIEW_ACTIONS>;
  /** What was proposed. */
  readonly proposed: Named<typeof REVIEW_ACTIONS>;
  readonly reasonCodes: Readonly<Record<ReasonCode, string>>;
  readonly queueStates: Named<typeof QUEUE_STATES>;
  readonly orders: Named<typeof QUEUE_ORDERS>;
  readonly proposalStates: Named<typeof PROPOSAL_STATES>;
  readonly proposalLists: Named<typeof PROPOSAL_LISTS>;
  /** What speaks against a decision. */
  readonly against: Named<typeof AGAINST>;
  readonly secondReasons: Named<typeof SECOND_REASONS>;
  /** Why a proposal came back. */
  readonly returnedFor: Named<typeof RETURN_CODES>;
  /** Why the service refuses with 409. */
  readonly conflicts: Named<typeof CONFLICTS>;
  readonly bulkResults: Named<typeof BULK_RESULTS>;
  readonly missing: Named<typeof MISSING>;
}
