/** What speaks against a decision: the score, and what the file has of its reason (D48). Pure. */
import type { ReviewAction } from '../../applications/rules/lifecycle.ts';
import { codesOfOperators, type ReasonCode } from '../../applications/rules/reason-codes.ts';
import { isAgainstScore } from './lean.ts';

/** How the file contradicts a reason code. */
export const CONTRADICTIONS = [
  /** It has no document, or each one was refused. */
  'no_document',
  /** No income was observed in it. */
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
  /** `refused`: it has some, and none of them can stand for anything. */
  readonly documents: 'none' | 'refused' | 'some';
  /** The observed income; null: none was observed. */
  readonly income: 'confirmed' | 'unconfirmed' | null;
}

/** How the file contradicts a code; null: it does not, or says nothing of it. */
export function contradictionOf(code: ReasonCode, { documents, income }: Evidence): Contradiction | null {
  switch (code) {
    case 'documents_verified':
      return documents === 'some' ? null : 'no_document';
    case 'documents_invalid':
      return documents === 'none' ? 'no_document' : null;
    case 'income_verified':
      if (income === null) return 'no_income';
      return income === 'unconfirmed' ? 'income_unconfirmed' : null;
    case 'income_not_verified':
      return income === 'confirmed' ? 'income_confirmed' : null;
    default:
      return null;
  }
}

/** The codes of an act that operators give and the file contradicts, in their order. */
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
