/** Why a proposal goes back to its maker instead of being applied (D48; docs/operators.md, "Proposals"). Pure. */
import {
  type DecidedAmount,
  type Decider,
  haveAuthority,
  mayDecide,
  type SecondReason,
  secondReasonOf,
} from './proposal.ts';

export const RETURN_CODES = [
  /** Its maker may not decide any more. */
  'maker',
  /** Nobody confirmed it in time. */
  'unconfirmed',
  /** The second operator may not decide any more. */
  'second',
  /** Neither of its operators has the authority for the amount any more. */
  'authority',
  /** It could not be applied, because each try failed. */
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
  /** The lines of the payment differ from the contract's list (D46). */
  'lines_differ',
  /** The terms have nothing for the country, or no legal maximum for the month of the payment (D45). */
  'no_terms',
  'no_maximum',
  /** The rate of the contract is above the legal maximum on the day of the payment (D45). */
  'above_maximum',
] as const;

export type ReturnCode = (typeof RETURN_CODES)[number];

/** The reason as a code for programs, and in one line for operators. */
export interface Returned {
  readonly code: ReturnCode;
  readonly text: string;
}

/** After this many days a proposal that nobody confirmed goes back to its maker. */
export const CONFIRM_WITHIN_DAYS = 7;
/** After this many failed tries a proposal goes back to its maker; with the waits between them, after four minutes. */
export const MOST_TRIES = 8;

/**
 * Why a due proposal is not applied, as far as that is known before the application is read; null: nothing speaks
 * against it. Accounts, roles and authorities count as they are now.
 */
export function whyReturned(due: {
  readonly decided: DecidedAmount;
  readonly needsSecond: SecondReason | null;
  readonly isConfirmed: boolean;
  readonly tries: number;
  readonly maker: Decider;
  readonly second: Decider;
}): Returned | null {
  const { decided, needsSecond, isConfirmed, maker, second } = due;
  if (maker === null || !mayDecide(maker))
    return { code: 'maker', text: 'its maker may not decide any more' };
  if (needsSecond !== null && !isConfirmed)
    return { code: 'unconfirmed', text: `nobody confirmed it within ${CONFIRM_WITHIN_DAYS} days` };
  if (needsSecond !== null && !mayDecide(second))
    return { code: 'second', text: 'the second operator may not decide any more: propose it again' };
  const isAlone = needsSecond === null;
  if (isAlone ? secondReasonOf(decided, maker.authority) !== null : !haveAuthority(decided, [maker, second]))
    return { code: 'authority', text: `${isAlone ? NOT_ALONE : NO_AUTHORITY}: propose it again` };
  if (due.tries >= MOST_TRIES)
    return { code: 'failure', text: 'it could not be applied because of a failure: propose it again' };
  return null;
}

const NOT_ALONE = 'its maker does not decide alone on this amount any more';
const NO_AUTHORITY = 'neither of its operators has the authority for this amount any more';
