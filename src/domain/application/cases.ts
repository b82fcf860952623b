/** What persons may ask a person of the desk for, and how that ends (D50; docs/reconsiderations.md). Lists alone. */

/** `reconsideration`: that a person reviews the refusal; `data`: what is stored about the person. */
export const CASE_KINDS = ['reconsideration', 'data'] as const;
export type CaseKind = (typeof CASE_KINDS)[number];

/** How a case is answered: the first two of a reconsideration, the last one of a request for data. */
export const CASE_OUTCOMES = ['confirmed', 'apply_again', 'answered'] as const;
export type CaseOutcome = (typeof CASE_OUTCOMES)[number];

/** The outcomes of a kind. */
export function outcomesOf(kind: CaseKind): readonly CaseOutcome[] {
  return kind === 'data' ? ['answered'] : ['confirmed', 'apply_again'];
}
