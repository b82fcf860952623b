/**
 * What the evidence of a signature may hold, and what a proof returns (D46). Pure. docs/signing.md ("The evidence") has
 * the rule.
 */
import type { ApplicationId } from '../application/ids.ts';
import type { ReceivedWithdrawal } from '../loan/withdrawal.ts';

/** What happened. The conversation reports the first kinds, the signing itself the others. */
export type EvidenceKind =
  | 'partner_consent_told'
  | 'data_consent_asked'
  | 'data_consent_given'
  | 'data_consent_refused'
  | 'offer_shown'
  | 'offer_accepted'
  | 'contract_shown'
  | 'contract_accepted'
  | 'declined'
  | 'withdrawal_asked'
  | 'contract_made'
  | 'id_checked'
  | 'code_sent'
  | 'code_checked'
  | 'text_delivered'
  | 'signed'
  | 'document_made'
  | 'withdrawn'
  | 'disbursed'
  | 'disbursement_line'
  | 'schedule_made';

/** Hashes, blind indexes, ids, times and words of closed lists: no value of the person. */
export type EvidenceFacts = Readonly<Record<string, string | number | boolean | null>>;

/** An entry before it is chained. */
export interface EvidenceEntry {
  readonly kind: EvidenceKind;
  /** When it happened, by the clock of the one who saw it; null: the moment of the recording. */
  readonly at: Date | null;
  readonly facts: EvidenceFacts;
}

/** Entries for the end of the chain of one application. */
export interface NewEvidence {
  readonly applicationId: ApplicationId;
  readonly entries: readonly EvidenceEntry[];
}

/** The result of a proof, and its evidence. The caller records it (`recordEvidence`) in the same transaction. */
export interface Proven<Result> {
  readonly result: Result;
  readonly evidence: readonly EvidenceEntry[];
}

/** The result of a signature. */
export interface ProvenSignature extends Proven<'signed' | 'not_signable'> {
  /**
   * Until when the signature may be withdrawn, and the last day of that (YYYY-MM-DD) on the country's wall clock; null:
   * the country gives no time.
   */
  readonly withdrawal: { readonly until: Date; readonly lastDay: string } | null;
}

/** The facts that the evidence keeps about a withdrawal that an operator recorded. */
export function receivedFacts(received: ReceivedWithdrawal | null): EvidenceFacts {
  return received === null ? {} : { by: 'operator', received: received.day, late: received.isLate };
}

const NAME = /^[a-z][a-z0-9_]{0,39}$/;
/** A hash of 512 bits in hex has 128 characters. */
const LONGEST = 200;
const MOST_FACTS = 40;

/** Why facts are refused; null: they are fine. Text of the person does not fit into the form of a fact. */
export function evidenceFault(facts: EvidenceFacts): string | null {
  const entries = Object.entries(facts);
  if (entries.length > MOST_FACTS) return `has more than ${MOST_FACTS} facts`;
  for (const [name, value] of entries) {
    if (!NAME.test(name)) return 'has a name that is not lower case with _';
    if (typeof value === 'string' && (value.length > LONGEST || !/^[\x21-\x7e]*$/.test(value))) {
      return `${name} is no hash, id, time or word`;
    }
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return `${name} is no whole number`;
  }
  return null;
}
