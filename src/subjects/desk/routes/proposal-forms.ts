/**
 * Schemas of proposals: decisions that can be undone for some seconds and are then applied (D48; docs/operators.md,
 * "Proposals"). Pure.
 */
import { type Static, Type } from 'typebox';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../../domain/application/reason-codes.ts';
import { PAYMENT_OBJECTIONS } from '../../../domain/loan/disbursement.ts';
import { DECISIONS } from '../../../domain/scorecard/scorecard.ts';
import { By, form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { AGAINST, CONTRADICTIONS } from '../rules/against.ts';
import { HELD_BY } from '../rules/conflict.ts';
import { BULK_RESULTS, PROPOSAL_STATES, SECOND_REASONS } from '../rules/proposal.ts';
import { RETURN_CODES } from '../rules/returned.ts';

export { AGAINST, BULK_RESULTS, PROPOSAL_STATES, RETURN_CODES, SECOND_REASONS };

/** The most applications of one decision on many. */
export const MOST_AT_ONCE = 10_000;

/** A line of a payment, by the rules of `application disburse` (docs/signing.md). */
const Line = form({
  payee: Type.String({ minLength: 1, maxLength: 200 }),
  amount: Type.String({ minLength: 1, maxLength: 20 }),
  reference: Type.String({ minLength: 1, maxLength: 200 }),
  value_date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
});

/** What a contract says to pay, and what of it is open. */
export const PaymentPlan = form({
  payees: Type.Array(
    form({
      payee: Type.String(),
      amount: Type.String(),
      open: Type.String(),
      currency: Type.String(),
      reference: orNull(Type.String()),
    }),
  ),
});

/** The free text of an act: one line, which should name nobody. No partner sees it. */
export const ActReason = Type.String({ minLength: 1, maxLength: 500 });

export const NewProposal = form({
  act: oneOf(REVIEW_ACTIONS),
  reason_code: Type.Optional(oneOf(ALL_REASON_CODES)),
  reason: ActReason,
  /** Pays out although the contract asks for more (D46); only with `disburse`. */
  override: Type.Optional(Type.Boolean()),
  /** What is paid to whom; only with `disburse`, where the contract is signed. */
  lines: Type.Optional(Type.Array(Line, { maxItems: 40 })),
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
  /** Until then the maker can undo it. It is never applied before then. */
  apply_at: Time,
  state: oneOf(PROPOSAL_STATES),
  /** null: the maker decides alone. */
  needs_second: orNull(oneOf(SECOND_REASONS)),
  /** Who confirmed or declined it. */
  second: orNull(By),
  ended_at: orNull(Time),
  /** Why it was declined or returned, in one line; null: it ended otherwise. */
  outcome: orNull(Type.String()),
  /** The reason as a code if it was returned, else null. */
  returned_for: orNull(oneOf(RETURN_CODES)),
};

export const Proposal = form(PROPOSAL);

/**
 * `now` is the store's time at the answer, so the time that is left until `apply_at` needs no clock of a browser (D39).
 */
export const MadeProposal = form({ ...PROPOSAL, now: Time });

/**
 * `mine`: the open proposals of the asking operator, and those that came back. `came_back`: only the latter.
 * `to_confirm`: those that wait for a second operator. `ended`: those that ended.
 */
export const PROPOSAL_LISTS = ['mine', 'came_back', 'to_confirm', 'ended'] as const;

export const ProposalQuery = form({
  list: oneOf(PROPOSAL_LISTS),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

/** What a second operator confirms. A value is null if it cannot be read, or if the application is deleted. */
export const ProposalFacts = form({
  partner: orNull(PartnerName),
  currency: orNull(Type.String()),
  /** The debt, in units of the currency. */
  debt_amount: orNull(Type.Number()),
  score: orNull(Type.Integer()),
  /** What the score said. */
  decision: orNull(oneOf(DECISIONS)),
  /** How many documents of each state the application has. */
  documents: form({ accepted: Type.Integer(), received: Type.Integer(), rejected: Type.Integer() }),
  /**
   * What the last check of the income observed, in units of the currency; null: it observed nothing, and nobody
   * accepted an income.
   */
  observed_income: orNull(form({ confirmed: Type.Boolean(), observed: orNull(Type.Number()) })),
  /** What speaks against the decision: the score, or what the file says about the reason. */
  against: Type.Array(oneOf(AGAINST)),
  /** What a payment pays to whom; null: the lines do not open. */
  lines: orNull(Type.Array(Line)),
  /** What the contract, its time to withdraw and the law of the day have against a payment. */
  objections: Type.Array(oneOf([...HELD_BY, ...PAYMENT_OBJECTIONS])),
  /** Neither its maker nor the asking operator has the authority for the amount, so another operator has to confirm. */
  lacks_authority: Type.Boolean(),
  /** Stands for everything that a confirmation shows. Whoever confirms sends it back. */
  seen: Type.String(),
});

/** A proposal, with its facts if it waits for a second operator. */
export const ListedProposal = form({ ...PROPOSAL, facts: Type.Optional(ProposalFacts) });

export const Proposals = form({
  proposals: Type.Array(ListedProposal),
  next: orNull(Type.String()),
  /** How many proposals wait for the asking operator to confirm them, in whatever list; counted up to 100. */
  to_confirm: Type.Integer({ maximum: 100 }),
  /** Activations of policies that wait for the asking operator; 0: the operator is no admin. */
  activations_to_confirm: Type.Integer(),
});

/** The `seen` of the facts that were shown. */
export const Confirmation = form({ seen: Type.String({ minLength: 1, maxLength: 100 }) });

/** Why the second operator does not confirm. */
export const Decline = form({ reason: ActReason });

/** The largest id, which is also the largest number that a path may have. */
const MOST_ID = 999_999_999_999_999;

const Count = Type.Integer({ minimum: 0, maximum: MOST_AT_ONCE });

/** Named applications, each with the event that the decision is based on, or a selection. */
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
    /** How many applications have a file that contradicts the reason code. */
    contradicted: Count,
  }),
});

export const BulkLook = form(MANY);

/** A reason code that the file of an application contradicts, and how. */
const CONTRADICTED = { reason_code: oneOf(ALL_REASON_CODES), why: oneOf(CONTRADICTIONS) };
export const Contradicted = form(CONTRADICTED);

/** What a decision on many would be about. Applications that do not exist are not counted. */
export const LookedAt = form({
  count: Type.Integer(),
  /** How many are above the authority of the asking operator, so that a second one has to confirm them. */
  above_authority: Type.Integer(),
  against_score: Type.Integer(),
  /** The totals by currency; null: the currency cannot be read. */
  totals: Type.Array(
    form({ currency: orNull(Type.String()), count: Type.Integer(), debt_amount: Type.Number() }),
  ),
  /** For each reason code of operators: how many files contradict it. */
  contradicted: Type.Array(form({ ...CONTRADICTED, count: Type.Integer() })),
});

export const Bulk = form({
  proposed: Type.Integer(),
  results: Type.Array(
    form({ id: Type.Integer(), result: oneOf(BULK_RESULTS), proposal: orNull(Type.Integer()) }),
  ),
});

/** The applications whose proposals were taken back. */
export const UndoneBulk = form({ undone: Type.Array(Type.Integer()) });

/** The body of a 412: what happened since. */
export const Changed = form({
  error: Type.String(),
  /** `id` null: it was no operator with an account, but for example the applicant or a command. */
  by: form({ id: orNull(Type.Integer()), login: Type.String() }),
  act: Type.String(),
  at: Time,
});

export type ProposalReply = Static<typeof Proposal>;
export type ListedProposalReply = Static<typeof ListedProposal>;
export type MadeProposalReply = Static<typeof MadeProposal>;
export type ProposalsReply = Static<typeof Proposals>;
export type PaymentPlanReply = Static<typeof PaymentPlan>;
export type NewProposalBody = Static<typeof NewProposal>;
export type ProposalFactsReply = Static<typeof ProposalFacts>;
export type LookedAtReply = Static<typeof LookedAt>;
export type BulkReply = Static<typeof Bulk>;
export type ChangedReply = Static<typeof Changed>;
