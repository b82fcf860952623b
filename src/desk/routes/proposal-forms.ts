/** The forms of proposals: decisions that can be undone for some seconds and are then applied (D48). */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../applications/rules/lifecycle.ts';
import { ALL_REASON_CODES } from '../../applications/rules/reason-codes.ts';
import { BULK_RESULTS, PROPOSAL_STATES, SECOND_REASONS } from '../rules/proposal.ts';
import { By, form, oneOf, orNull, Time } from './form.ts';

export { BULK_RESULTS, PROPOSAL_STATES, SECOND_REASONS };

/** The most applications of one decision on many. */
export const MOST_AT_ONCE = 10_000;

/** The free text of an act: one line, and nobody's name in it. No partner sees it. */
export const ActReason = Type.String({ minLength: 1, maxLength: 500 });

export const NewProposal = form({
  act: oneOf(REVIEW_ACTIONS),
  reason_code: Type.Optional(oneOf(ALL_REASON_CODES)),
  reason: ActReason,
  /** Pays out in spite of what the contract asks for (D46); only with `disburse`. */
  override: Type.Optional(Type.Boolean()),
});

export const Proposal = form({
  id: Type.Integer(),
  application_id: Type.Integer(),
  act: oneOf(REVIEW_ACTIONS),
  reason_code: oneOf(ALL_REASON_CODES),
  reason: Type.String(),
  override: Type.Boolean(),
  by: By,
  at: Time,
  /** Until then the maker can undo it; not before then it is applied. */
  apply_at: Time,
  state: oneOf(PROPOSAL_STATES),
  /** null: the maker decides alone. */
  needs_second: orNull(oneOf(SECOND_REASONS)),
  /** Who confirmed or declined it. */
  second: orNull(By),
  ended_at: orNull(Time),
  /** Why it was declined or returned, in one line; null for other ends. */
  outcome: orNull(Type.String()),
});

/** `mine` has the open ones of the asking operator and those that came back; `to_confirm` waits for a second one. */
export const PROPOSAL_LISTS = ['mine', 'to_confirm', 'ended'] as const;

export const ProposalQuery = form({
  list: oneOf(PROPOSAL_LISTS),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

export const Proposals = form({ proposals: Type.Array(Proposal), next: orNull(Type.String()) });

/** Why the second operator does not confirm. */
export const Decline = form({ reason: ActReason });

/** The largest number that an address may name, too. */
const MOST_ID = 999_999_999_999_999;

/** One decision on many applications: named ones, each with the event it was decided on, or a selection. */
export const NewBulk = form({
  act: oneOf(['approve', 'reject'] as const),
  reason_code: Type.Optional(oneOf(ALL_REASON_CODES)),
  reason: ActReason,
  applications: Type.Optional(
    Type.Array(
      form({
        id: Type.Integer({ minimum: 1, maximum: MOST_ID }),
        last_event: Type.String({ pattern: '^[0-9]{1,19}$' }),
      }),
      {
        minItems: 1,
        maxItems: 1_000,
      },
    ),
  ),
  selection: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
});

export const Bulk = form({
  proposed: Type.Integer(),
  results: Type.Array(
    form({ id: Type.Integer(), result: oneOf(BULK_RESULTS), proposal: orNull(Type.Integer()) }),
  ),
});

/** How many proposals of a decision on many were still open, and are taken back. */
export const UndoneBulk = form({ undone: Type.Integer() });

/** The body of a 412: what happened since. */
export const Changed = form({
  error: Type.String(),
  /** `id` null: no operator with an account, such as the applicant or a command. */
  by: form({ id: orNull(Type.Integer()), login: Type.String() }),
  act: Type.String(),
  at: Time,
});

export type ProposalReply = Static<typeof Proposal>;
export type ProposalsReply = Static<typeof Proposals>;
export type NewProposalBody = Static<typeof NewProposal>;
export type BulkReply = Static<typeof Bulk>;
export type ChangedReply = Static<typeof Changed>;
