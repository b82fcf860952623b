/** What a conversation needs of the subjects below it. `service.ts` gives the real ones. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type {
  OfferShown,
  ProofInput,
  ShownContract,
  SourceStepInput,
  WithCosts,
  WorkInput,
} from '../../../domain/conversation/input.ts';
import type { Purpose } from '../../../domain/conversation/state.ts';
import type { NewEvidence, Proven, ProvenSignature } from '../../../domain/evidence/evidence.ts';
import type { ReceivedWithdrawal, WithdrawalResult, Withdrawer } from '../../../domain/loan/withdrawal.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
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

/** What a check of an income comes to. */
export type IncomeEnd = 'confirmed' | 'adjusted' | 'operator' | SourceStepInput | Later;

/** Work beside the conversations. Each may be done again, and comes to the same end then. */
export interface Performer {
  /** `inputIndex`: the blind index of the channel's id of the message with the file, as a decimal text. */
  readDocument(
    order: WorkOrder,
    file: StoredFile & { readonly purpose: Purpose; readonly inputIndex: string },
  ): Promise<Extract<WorkInput, { kind: 'document' }>['fate'] | Later>;
  checkIncome(order: WorkOrder): Promise<IncomeEnd>;
  /** Goes on with a code that the income source has asked for. */
  answerSource(order: WorkOrder, code: string): Promise<IncomeEnd>;
  /** null: there is no offer, and an operator has to look. */
  offer(order: WorkOrder): Promise<WithCosts<OfferShown> | null | Later>;
  makeContract(order: WorkOrder): Promise<WithCosts<ShownContract> | null | Later>;
  /** The signed contract, with its certificate. */
  finishContract(order: WorkOrder): Promise<ShownContract | null | Later>;
  sendCode(
    order: WorkOrder,
  ): Promise<Pick<Extract<WorkInput, { kind: 'code' }>, 'result' | 'way' | 'minutes'> | Later>;
}

/** What the acceptance was of, for the signature. */
export interface Acceptance {
  /** The SHA-256 of the contract, in hex. */
  readonly contract: string;
  readonly acceptedInput: string;
  /** The turn whose reply showed the contract. */
  readonly shownTurn: number;
}

/**
 * What is proven in the transaction of a turn. The first three lock an application, its contract and its codes, and
 * return evidence; the last two take the locks that come after those of all applications of the transaction.
 */
export interface Signing {
  checkAnswer(
    session: Transaction,
    applicationId: ApplicationId,
    question: 'last_four' | 'code',
    text: string,
  ): Promise<Proven<Extract<ProofInput, { kind: 'answer' }>['result']>>;
  sign(session: Transaction, applicationId: ApplicationId, acceptance: Acceptance): Promise<ProvenSignature>;
  /** `sentAt`: when the person sent the words; null: now. `received`: they came by another way than the chat. */
  withdraw(
    session: Transaction,
    applicationId: ApplicationId,
    sentAt: Date | null,
    received?: ReceivedWithdrawal | null,
  ): Promise<Proven<WithdrawalResult>>;
  /** Once a transaction, for all of its turns. */
  recordEvidence(session: Transaction, some: readonly NewEvidence[]): Promise<void>;
  /**
   * Rejects the application of a withdrawn signature. Takes the lock of its partner's events. `by`: the operator who
   * recorded the withdrawal; null: the applicant.
   */
  rejectWithdrawn(session: Transaction, applicationId: ApplicationId, by: Withdrawer | null): Promise<void>;
}
