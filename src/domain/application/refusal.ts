/**
 * What a refused applicant is told of a review's reason (D50): the codes that partners read, in words for the
 * applicant. Pure. `domain/scorecard/reasons.ts` has the words of decisions by the score.
 */
import type { ReasonWords } from '../scorecard/document.ts';
import type { ReasonCode } from './reason-codes.ts';

/** The rejections that refuse nobody: the applicant went away, or let the offer pass. */
const OWN_ENDS: readonly ReasonCode[] = [
  'applicant_withdrew',
  'contract_withdrawn',
  'data_erased',
  'offer_expired',
];

/** Whether a rejection refused the applicant. `code`: that of the review; null: the score or a limit rejected. */
export function isRefusal(code: ReasonCode | null): boolean {
  return code === null || !OWN_ENDS.includes(code);
}

/**
 * The words of a review's reason. A suspicion of fraud is told as what could not be verified, because who is suspected
 * must not learn what raised it; the partner reads the code.
 */
const WORDS: Readonly<Partial<Record<ReasonCode, ReasonWords>>> = {
  documents_missing: {
    en: 'Documents that we asked for are missing',
    es: 'Faltan documentos que pedimos',
    pt: 'Faltam documentos que pedimos',
  },
  documents_invalid: {
    en: 'We could not accept a document',
    es: 'No pudimos aceptar un documento',
    pt: 'Não pudemos aceitar um documento',
  },
  identity_not_verified: {
    en: 'We could not verify the identity',
    es: 'No pudimos verificar la identidad',
    pt: 'Não pudemos verificar a identidade',
  },
  income_not_verified: {
    en: 'We could not verify the income',
    es: 'No pudimos comprobar el ingreso',
    pt: 'Não pudemos comprovar a renda',
  },
  insufficient_capacity: {
    en: 'The income is not enough for the installment',
    es: 'El ingreso no alcanza para la cuota',
    pt: 'A renda não é suficiente para a parcela',
  },
  suspected_fraud: {
    en: 'We could not verify the data of the application',
    es: 'No pudimos verificar los datos de la solicitud',
    pt: 'Não pudemos verificar os dados do pedido',
  },
};

/** A reason with its words for the applicant. */
export interface WordedReason {
  readonly code: string;
  readonly words: ReasonWords;
}

/** A review's reason with its words; empty: it has none. */
export function reviewReason(code: string | null): readonly WordedReason[] {
  const words = code !== null && Object.hasOwn(WORDS, code) ? WORDS[code as ReasonCode] : undefined;
  return code === null || words === undefined ? [] : [{ code, words }];
}

/**
 * The reasons that a refused applicant is told, the most important first: that of the review, then those of the
 * decision by the score. A code without words is left out.
 */
export function refusalReasons(
  review: ReasonCode | null,
  decided: readonly { readonly code: string; readonly words: ReasonWords | null }[],
): WordedReason[] {
  return [
    ...reviewReason(review),
    ...decided.flatMap(({ code, words }) => (words === null ? [] : [{ code, words }])),
  ];
}
