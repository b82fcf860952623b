/** Why a proposal goes back to its maker and is not applied (D48). Pure. */
import { type Decider, mayDecide, type SecondReason } from './proposal.ts';

export const RETURN_CODES = [
  /** Its maker may not decide any more. */
  'maker',
  /** Nobody confirmed it in time. */
  'unconfirmed',
  /** The second operator may not decide any more. */
  'second',
  /** It could not be applied because of a failure. */
  'failure',
  /** The application is deleted. */
  'deleted',
  /** Something else happened to the application. */
  'changed',
  /** The applicant has signed the contract. */
  'signed',
  /** The status does not allow the act (D34). */
  'illegal',
  /** The stored data cannot be read. */
  'unreadable',
  /** The contract is not signed (D46). */
  'not_signed',
  /** The applicant may withdraw from the contract (D46). */
  'withdrawable',
] as const;

export type ReturnCode = (typeof RETURN_CODES)[number];

/** The same for programs, and for operators in one line. */
export interface Returned {
  readonly code: ReturnCode;
  readonly text: string;
}

/** Days after which a proposal that nobody confirmed goes back to its maker. */
export const CONFIRM_WITHIN_DAYS = 7;
/** Tries to apply a proposal before it goes back to its maker; with the waits between them, four minutes. */
export const MOST_TRIES = 8;

/** Why a due proposal is not applied, before the application is looked at; null: nothing speaks against it. */
export function whyReturned(due: {
  readonly needsSecond: SecondReason | null;
  readonly isConfirmed: boolean;
  readonly tries: number;
  readonly maker: Decider;
  readonly second: Decider;
}): Returned | null {
  if (!mayDecide(due.maker)) return { code: 'maker', text: 'its maker may not decide any more' };
  if (due.needsSecond !== null && !due.isConfirmed)
    return { code: 'unconfirmed', text: `nobody confirmed it within ${CONFIRM_WITHIN_DAYS} days` };
  if (due.needsSecond !== null && !mayDecide(due.second))
    return { code: 'second', text: 'the second operator may not decide any more: propose it again' };
  if (due.tries >= MOST_TRIES)
    return { code: 'failure', text: 'it could not be applied because of a failure: propose it again' };
  return null;
}
