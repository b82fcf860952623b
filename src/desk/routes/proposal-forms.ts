/** The forms of proposals: decisions that can be undone for some seconds and are then applied (D48). */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../applications/rules/lifecycle.ts';
import { ALL_REASON_CODES } from '../../applications/rules/reason-codes.ts';
import { BULK_RESULTS, PROPOSAL_STATES, SECOND_REASONS } from '../rules/proposal.ts';
import { RETURN_CODES } from '../rules/returned.ts';
import { By, form, oneOf, orNull, Time } from './form.ts';

export { BULK_RESULTS, PROPOSAL_STATES, RETURN_CODES, SECOND_REASONS };

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

const PROPOSAL = {
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
  /** The same as a code where it was returned; else null. */
  returned_for: orNull(oneOf(RETURN_CODES)),
};

export const Proposal = form(PROPOSAL);

/** `now` is the store's time at the answer: what is left until `apply_at` needs no clock of a browser (D39). */
export const MadeProposal = form({ ...PROPOSAL, now: Time });

/**
 * `mine` has the open ones of the asking operator and those that came back, which `came_back` has alone; `to_confirm`
 * waits for a second one.
 */
export const PROPOSAL_LISTS = ['mine', 'came_back', 'to_confirm', 'ended'] as const;

export const ProposalQuery = form({
  list: oneOf(PROPOSAL_LISTS),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

/** In `to_confirm` also what the decision is about, the debt in units of the currency; null: it cannot be read. */
export const ListedProposal = form({
  ...PROPOSAL,
  currency: Type.Optional(orNull(Type.String())),
  debt_amount: Type.Optional(orNull(Type.Number())),
});

export const Proposals = form({
  proposals: Type.Array(ListedProposal),
  next: orNull(Type.String()),
  /** How many wait for the asking operator to confirm them, whatever the list; counted up to 100. */
  to_confirm: Type.Integer({ maximum: 100 }),
});

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

/** The applications whose proposals of a decision on many are taken back. */
export const UndoneBulk = form({ undone: Type.Array(Type.Integer()) });

/** The body of a 412: what happened since. */
export const Changed = form({
  error: Type.String(),
  /** `id` null: no operator with an account, such as the applicant or a command. */
  by: form({ id: orNull(Type.Integer()), login: Type.String() }),
  act: Type.String(),
  at: Time,
});

export type ProposalReply = Static<typeof Proposal>;
export type ListedProposalReply = Static<typeof ListedProposal>;
export type MadeProposalReply = Static<typeof MadeProposal>;
export type ProposalsReply = Static<typeof Proposals>;
export type NewProposalBody = Static<typeof NewProposal>;
export type BulkReply = Static<typeof Bulk>;
export type ChangedReply = Static<typeof Changed>;
