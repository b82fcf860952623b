/** What an application can wait for, and how a pend ends (docs/operators.md, "Pended applications"). Pure. */

/** What may be missing: the checklist of a pended application. */
export const MISSING = [
  'income_statement',
  'debt_statement',
  'id_document',
  'readable_copy',
  'explanation',
  'partner_answer',
] as const;
/** How a pend ended: the applicant answered, its time was over, a reviewer went on, or the application left review. */
export const PEND_ENDS = ['answered', 'over', 'resumed', 'decided'] as const;
/** What became of the message to the applicant. `no_window`: nothing can be said now. */
export const PEND_MESSAGES = ['none', 'said', 'no_window'] as const;

export type Missing = (typeof MISSING)[number];
export type PendEnd = (typeof PEND_ENDS)[number];
export type PendMessage = (typeof PEND_MESSAGES)[number];

/** The most pends of an application. */
export const MOST_PENDS = 100;
/** The most characters (code points) of the message to the applicant. */
export const MOST_MESSAGE_CHARACTERS = 1_000;
