/**
 * When a decision needs a second operator, and who has the authority for it (D46, D48; docs/operators.md, "Proposals").
 * Pure. `rules/returned.ts` says when a decision is not applied.
 */
import type { ApplicationStatus, ReviewAction } from '../../../domain/application/lifecycle.ts';
import { type Authority, mayActAs, type Role } from '../../../domain/operator/authority.ts';
import { doublingMs } from '../../../ground/base/clock.ts';
import type { HeldBy } from './conflict.ts';

/**
 * `proposed`: it waits for its time or for a second operator. It ends as `applied`, as `undone` by its maker, as
 * `declined` by the second operator, or as `returned` to its maker because it may not be applied any more.
 */
export const PROPOSAL_STATES = ['proposed', 'applied', 'undone', 'declined', 'returned'] as const;
/** Why a second operator has to confirm. */
export const SECOND_REASONS = ['authority', 'disburse', 'override'] as const;
/** What becomes of one application when a decision on it is proposed. */
export const BULK_RESULTS = [
  'proposed',
  'changed',
  'claimed',
  'illegal',
  'already_proposed',
  'unknown',
] as const;

export type ProposalState = (typeof PROPOSAL_STATES)[number];
export type SecondReason = (typeof SECOND_REASONS)[number];
export type BulkResult = (typeof BULK_RESULTS)[number];

/** What a decision is about. */
export interface DecidedAmount {
  readonly act: ReviewAction;
  readonly isOverride: boolean;
  /** null, like the amount: it cannot be read. */
  readonly currency: string | null;
  /** The debt to consolidate, in units of the currency. */
  readonly debtAmount: number | null;
}

/**
 * Why a second operator has to confirm; null: the maker decides alone. If the authority has no amount for the currency,
 * or if the amount cannot be read, a second operator always has to.
 */
export function secondReasonOf(decided: DecidedAmount, authority: Authority): SecondReason | null {
  if (decided.isOverride) return 'override';
  if (decided.act === 'disburse') return 'disburse';
  return isWithin(decided, authority) ? null : 'authority';
}

/**
 * Whether one of the operators who decide together has the authority for the amount. An approval and a payment need
 * this. A rejection above the maker's authority needs a second pair of eyes, but no larger authority.
 */
export function haveAuthority(decided: DecidedAmount, deciders: readonly Decider[]): boolean {
  if (decided.act === 'reject') return true;
  return deciders.some((decider) => decider !== null && isWithin(decided, decider.authority));
}

function isWithin({ currency, debtAmount }: DecidedAmount, authority: Authority): boolean {
  const most = currency === null ? undefined : authority.get(currency);
  // Equal decimals give equal doubles, so the comparison is right to the cent.
  return most !== undefined && debtAmount !== null && debtAmount <= Number(most) / 100;
}

/** An operator by the present account; null: there is none. */
export type Decider = {
  readonly role: Role;
  readonly isDisabled: boolean;
  readonly authority: Authority;
} | null;

/** Whether an operator may decide. */
export function mayDecide(decider: Decider): boolean {
  return decider !== null && !decider.isDisabled && mayActAs(decider.role, 'reviewer');
}

/** How long a proposal waits after failed try number `tries`, in milliseconds: from one second to two minutes. */
export function waitAfterTry(tries: number): number {
  return doublingMs(tries, 1_000, 128_000);
}

/**
 * What holds a payment: no signature, or a period that has not ended (D46). `until`: when the period ends; null:
 * nothing is signed.
 */
export function heldBy(until: Date | null): HeldBy {
  return until === null ? 'not_signed' : 'withdrawable';
}

/** The same for operators, in one line. */
export function heldText(until: string | null): string {
  return until === null
    ? 'its contract is not signed: wait for the signature, or override it'
    : `the applicant may withdraw from the contract until ${until}: wait until then, or override it`;
}

/** The text about an act that the status does not allow (D34). */
export function illegalText(act: ReviewAction, status: ApplicationStatus | null): string {
  return status === null
    ? 'its stored data cannot be read'
    : `it is ${status}: the act ${act} is not possible`;
}
