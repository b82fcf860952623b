/**
 * Why the desk refuses with 409: a code for programs, beside the words of the refusal (D48; docs/operators.md,
 * "Proposals" has the list). Pure.
 */

export const CONFLICTS = [
  /** The status does not allow the act (D34). */
  'illegal',
  /** The stored data cannot be read. */
  'unreadable',
  /** Its contract is not signed (D46). */
  'not_signed',
  /** The applicant may withdraw from the contract, up to `until` (D46). */
  'withdrawable',
  /** The lines of the payment differ from the contract's list, or there are none (D46). */
  'lines_differ',
  /** The terms have nothing for the country, or no legal maximum for the month of the payment (D45). */
  'no_terms',
  'no_maximum',
  /** The rate of the contract is above the legal maximum on the day of the payment (D45). */
  'above_maximum',
  /** Another operator (`by`) holds it, up to `until`. */
  'claimed',
  /** A decision is proposed: by whom (`by`) and which (`act`). */
  'proposed',
  /** Another decision on it is under way. */
  'busy',
  'pended',
  'not_pended',
  'too_many_pends',
  'not_in_review',
  /** The conversation cannot be handed over for a message now. */
  'not_said',
  /** The service speaks in the conversation: hand it over first. */
  'not_held',
  /** An operator has answered the person, and the asking operator does not have the claim: claim it first. */
  'not_claimed',
  /** An operator speaks in the conversation already. */
  'held',
  /** The conversation has ended. */
  'ended',
  /** The conversation cannot go back to the step. */
  'no_step',
  /** No text can go to the person: they want no messages, the phone is not theirs, or they wrote over 24 hours ago. */
  'opted_out',
  'wrong_person',
  'window_closed',
  /** The virus scanner does not answer: the file may be sent again later. */
  'not_scanned',
  /** No reminder goes: the person takes a text, one went out since they wrote, or the application gets none. */
  'window_open',
  'reminded',
  'no_reminder',
  /** The proposal has ended; `state` tells how. */
  'not_open',
  /** The proposal needs no second operator. */
  'no_second',
  /** Another operator (`by`) has confirmed the proposal. */
  'confirmed',
  /** Neither the maker of the proposal nor the asking operator has the authority for the amount. */
  'no_authority',
  /** What the decision is about has changed since it was shown. The answer has it as it is now. */
  'changed',
  /** Another admin has had the second look. */
  'looked_at',
  'too_many_notes',
  /** The person of the application was erased. */
  'erased',
  /** The document was refused before it was stored. */
  'no_file',
  'file_missing',
  'file_damaged',
  'file_too_large',
  /** Too many applications fit for one selection. */
  'too_many_match',
] as const;

export type Conflict = (typeof CONFLICTS)[number];
/** What a contract asks for before a payment and is still missing. */
export const HELD_BY = ['not_signed', 'withdrawable'] as const satisfies readonly Conflict[];
export type HeldBy = (typeof HELD_BY)[number];
