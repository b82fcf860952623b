/** What a conversation needs of the subjects below it. `service.ts` gives the real ones. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { PartnerId } from '../../partners/rules/credential.ts';
import type { Transaction } from '../../postgres/database.ts';
import type { EvidenceAct } from '../rules/effect.ts';
import type { OfferShown, ProofInput, ShownContract, WorkInput } from '../rules/input.ts';
import type { Purpose } from '../rules/state.ts';
import type { StoredFile } from '../sql/inputs.ts';

/** The work has to be tried again. `reason` is a code. */
export interface Later {
  readonly retryAfterMs: number;
  readonly reason: string;
}

/** Who asks for work. */
export interface WorkOrder {
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  /** For Intl. */
  readonly locale: string;
  readonly signal: AbortSignal;
}

/** Work beside the conversations. Each may be done again, and comes to the same end then. */
export interface Performer {
  /** `inputIndex`: the blind index of the channel's id of the message with the file, as a decimal text. */
  readDocument(
    order: WorkOrder,
    file: StoredFile & { readonly purpose: Purpose; readonly inputIndex: string },
  ): Promise<Extract<WorkInput, { kind: 'document' }>['fate'] | Later>;
  checkIncome(order: WorkOrder): Promise<'confirmed' | 'adjusted' | 'operator' | Later>;
  /** null: there is no offer, and an operator has to look. */
  offer(order: WorkOrder): Promise<OfferShown | null | Later>;
  makeContract(order: WorkOrder): Promise<ShownContract | null | Later>;
  sendCode(
    order: WorkOrder,
  ): Promise<
    | { readonly result: 'sent' | 'failed' | 'too_many'; readonly way: string; readonly minutes: number }
    | Later
  >;
}

/** What the acceptance was of, for the signature. */
export interface Acceptance {
  /** The SHA-256 of the contract, in hex. */
  readonly contract: string;
  readonly acceptedInput: string;
  /** The turn whose reply showed the contract. */
  readonly shownTurn: number;
}

/** One line of evidence. Hashes and ids alone: the texts lie sealed in replies and inputs. */
export interface EvidenceEntry {
  readonly kind: EvidenceAct;
  readonly at: Date;
  readonly turn: number;
  /** The input that says it; null: the service says it. */
  readonly input: string | null;
  /** Blind index of the channel's id of the person's message, as a decimal text. */
  readonly messageIndex: string | null;
  /** The SHA-256 of the text that was shown, or of the contract, in hex. */
  readonly sha256: string | null;
}

/** What the conversation of an application has seen. */
export interface SeenEvidence {
  readonly applicationId: ApplicationId;
  readonly entries: readonly EvidenceEntry[];
}

/** What is proven in the transaction of a turn. */
export interface Signing {
  checkAnswer(
    session: Transaction,
    applicationId: ApplicationId,
    question: 'last_four' | 'code',
    text: string,
  ): Promise<Extract<ProofInput, { kind: 'answer' }>['result']>;
  sign(
    session: Transaction,
    applicationId: ApplicationId,
    acceptance: Acceptance,
  ): Promise<'signed' | 'not_signable'>;
  withdraw(
    session: Transaction,
    applicationId: ApplicationId,
  ): Promise<'withdrawn' | 'too_late' | 'not_signed'>;
  /** Once a transaction, for all of its turns. */
  recordEvidence(session: Transaction, some: readonly SeenEvidence[]): Promise<void>;
}
