/** The forms of proposals: decisions that can be undone for some seconds and are then applied (D48). */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { AGAINST, CONTRADICTIONS } from '../rules/against.ts';
import { BULK_RESULTS, PROPOSAL_STATES, SECOND_REASONS } from '../rules/proposal.ts';
import { RETURN_CODES } from '../rules/returned.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from './form.ts';

export { AGAINST, BULK_RESULTS, PROPOSAL_STATES, RETURN_CODES, SECOND_REASONS };

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

/** What a second operator confirms. What is null cannot be read, or the application is deleted. */
export const ProposalFacts = form({
  partner: orNull(PartnerName),
  currency: orNull(Type.String()),
  /** In units of the currency. */
  debt_amount: orNull(Type.Number()),
  score: orNull(Type.Integer()),
  /** What the score said. */
  decision: orNull(oneOf(DECISIONS)),
  /** How many of each state the file has. */
  documents: form({ accepted: Type.Integer(), received: Type.Integer(), rejected: Type.Integer() }),
  /** What the last check observed, in units of the currency; null: nothing, and nobody accepted an income. */
  observed_income: orNull(form({ confirmed: Type.Boolean(), observed: orNull(Type.Number()) })),
  /** What speaks against it: the score, or what the file has of the reason. */
  against: Type.Array(oneOf(AGAINST)),
  /** Neither its maker nor the asking operator has the authority for the amount: another one has to confirm. */
  lacks_authority: Type.Boolean(),
  /** Stands for all that a confirmation shows: to confirm it sends this back. */
  seen: Type.String(),
});

/** A proposal with its facts where it waits for a second operator. */
export const ListedProposal = form({ ...PROPOSAL, facts: Type.Optional(ProposalFacts) });

export const Proposals = form({
  proposals: Type.Array(ListedProposal),
  next: orNull(Type.String()),
  /** How many wait for the asking operator to confirm them, whatever the list; counted up to 100. */
  to_confirm: Type.Integer({ maximum: 100 }),
});

/** `seen` of the facts that were shown. */
export const Confirmation = form({ seen: Type.String({ minLength: 1, maxLength: 100 }) });

/** Why the second operator does not confirm. */
export const Decline = form({ reason: ActReason });

/** The largest number that an address may name, too. */
const MOST_ID = 999_999_999_999_999;

const Count = Type.Integer({ minimum: 0, maximum: MOST_AT_ONCE });

/** Named applications, each with the event it was decided on, or a selection. */
const MANY = {
  act: oneOf(['approve', 'reject'] as const),
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
};

/** One decision on many applications. */
export const NewBulk = form({
  ...MANY,
  reason_code: Type.Optional(oneOf(ALL_REASON_CODES)),
  reason: ActReason,
  /** What was shown to speak against it. */
  seen: form({
    above_authority: Count,
    against_score: Count,
    /** How many files contradict the reason code. */
    contradicted: Count,
  }),
});

export const BulkLook = form(MANY);

/** A reason code that the file of an application contradicts, and how. */
const CONTRADICTED = { reason_code: oneOf(ALL_REASON_CODES), why: oneOf(CONTRADICTIONS) };
export const Contradicted = form(CONTRADICTED);

/** What a decision on many would be about. Applications that are not there count nowhere. */
export const LookedAt = form({
  count: Type.Integer(),
  /** By currency; null: it cannot be read. */
  totals: Type.Array(
    form({ currency: orNull(Type.String()), count: Type.Integer(), debt_amount: Type.Number() }),
  ),
  /** Above the authority of the asking operator: a second one has to confirm them. */
  above_authority: Type.Integer(),
  against_score: Type.Integer(),
  /** Of each code that operators give: how many files contradict it. */
  contradicted: Type.Array(form({ ...CONTRADICTED, count: Type.Integer() })),
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
export type ProposalFactsReply = Static<typeof ProposalFacts>;
export type LookedAtReply = Static<typeof LookedAt>;
export type BulkReply = Static<typeof Bulk>;
export type ChangedReply = Static<typeof Changed>;
