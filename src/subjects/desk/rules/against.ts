/**
 * What speaks against a decision beside the score (`domain/application/against-score`): what the file has against its
 * reason code (D48; docs/operators.md, "Proposals" and "The lead's view and second looks"). Pure.
 */
import { isAgainstScore } from '../../../domain/application/against-score.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import { codesOfOperators, type ReasonCode } from '../../../domain/application/reason-codes.ts';

/** How the file contradicts a reason code. */
export const CONTRADICTIONS = [
  /** There is no document, or each one was refused. */
  'no_document',
  /** No income was observed. */
  'no_income',
  /** The check of the income did not confirm it, and no operator has accepted it. */
  'income_unconfirmed',
  /** The check confirmed the income. */
  'income_confirmed',
] as const;
export const AGAINST = ['against_score', ...CONTRADICTIONS] as const;

export type Contradiction = (typeof CONTRADICTIONS)[number];
export type Against = (typeof AGAINST)[number];

/** What a file has. */
export interface Evidence {
  /** How many documents of each state. A refused one can support no reason. */
  readonly documents: { readonly accepted: number; readonly received: number; readonly rejected: number };
  /** The observed income, in units of the currency; null: none was observed or accepted. */
  readonly income: { readonly isConfirmed: boolean; readonly observed: number | null } | null;
}

/** How the file contradicts a reason code; null: it does not, or says nothing about it. */
export function contradictionOf(code: ReasonCode, { documents, income }: Evidence): Contradiction | null {
  const { accepted, received, rejected } = documents;
  const usable = accepted + received;
  switch (code) {
    case 'documents_verified':
      return usable > 0 ? null : 'no_document';
    case 'documents_invalid':
      return usable + rejected === 0 ? 'no_document' : null;
    case 'income_verified':
      if (income === null) return 'no_income';
      return income.isConfirmed ? null : 'income_unconfirmed';
    case 'income_not_verified':
      return income?.isConfirmed ? 'income_confirmed' : null;
    default:
      return null;
  }
}

/** The reason codes of operators for an act that the file contradicts, in their order. */
export function contradictedCodes(
  act: ReviewAction,
  evidence: Evidence,
): { readonly code: ReasonCode; readonly why: Contradiction }[] {
  return codesOfOperators(act).flatMap((code) => {
    const why = contradictionOf(code, evidence);
    return why === null ? [] : [{ code, why }];
  });
}

/** Everything that speaks against a decision. */
export function speaksAgainst(
  { act, reasonCode }: { readonly act: ReviewAction; readonly reasonCode: ReasonCode },
  score: number | null,
  evidence: Evidence,
): Against[] {
  const contradiction = contradictionOf(reasonCode, evidence);
  return [
    ...(isAgainstScore(act, score) ? (['against_score'] as const) : []),
    ...(contradiction === null ? [] : [contradiction]),
  ];
}
