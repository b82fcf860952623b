/**
 * What a document is, and the closed list of the reasons for its fate (docs/documents.md, "States and reasons"). Pure.
 */

declare const DOCUMENT: unique symbol;

/** The id of a document, a whole number from 1 on. */
export type DocumentId = number & { readonly [DOCUMENT]: true };

/** Makes an id from a checked number or from the decimal text of a bigint column. */
export function toDocumentId(value: number | string): DocumentId {
  return Number(value) as DocumentId;
}

/** What the applicant was asked for: statements of income, or statements of the debts to consolidate. */
export const PURPOSES = ['earnings', 'debts'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** `received`: stored, and nobody has decided yet. */
export const DOCUMENT_STATES = ['received', 'accepted', 'rejected'] as const;
export type DocumentState = (typeof DOCUMENT_STATES)[number];

/** What becomes of a document by itself: `operator` means that a person decides. */
export type Fate = 'accepted' | 'refused' | 'operator';

/** Each reason with its fate. docs/documents.md says what each one means. */
const REASON_FATES = {
  read: 'accepted',
  stored: 'accepted',
  accepted_by_operator: 'accepted',

  gone: 'refused',
  too_large: 'refused',
  too_many: 'refused',
  empty: 'refused',
  hash_mismatch: 'refused',
  unsupported_type: 'refused',
  type_mismatch: 'refused',
  polyglot: 'refused',
  too_many_pixels: 'refused',
  damaged: 'refused',
  infected: 'refused',
  encrypted: 'refused',
  rejected_by_operator: 'refused',

  another_holder: 'operator',
  holder_not_found: 'operator',
  unknown_layout: 'operator',
  no_months: 'operator',
  debts_unclear: 'operator',
  total_differs: 'operator',
  low_confidence: 'operator',
  no_text: 'operator',
  reader_time: 'operator',
  reader_memory: 'operator',
  reader_failed: 'operator',
  reader_off: 'operator',
  reading_limit: 'operator',
  file_missing: 'operator',
  file_damaged: 'operator',
} as const satisfies Readonly<Record<string, Fate>>;

/** Why a document has its fate. */
export type DocumentReason = keyof typeof REASON_FATES;

/** The state of a document with this fate. */
export const STATE_OF: Readonly<Record<Fate, DocumentState>> = {
  accepted: 'accepted',
  refused: 'rejected',
  operator: 'received',
};

/** The fate of a reason. */
export function fateOf(reason: DocumentReason): Fate {
  return REASON_FATES[reason];
}
