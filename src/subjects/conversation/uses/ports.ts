/** The interfaces of what a conversation needs from the subjects below it. `uses/neighbours.ts` implements them. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type {
  DebtsInput,
  OfferShown,
  Outlook,
  ProofInput,
  ShownContract,
  SourceStepInput,
  WithCosts,
  WorkInput,
} from '../../../domain/conversation/input.ts';
import type { Purpose } from '../../../domain/conversation/state.ts';
import type { NewEvidence, Proven, ProvenSignature } from '../../../domain/evidence/evidence.ts';
import type { DebtBlock } from '../../../domain/loan/debt.ts';
import type { ReceivedWithdrawal, WithdrawalResult, Withdrawer } from '../../../domain/loan/withdrawal.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { StoredFile } from '../sql/inputs.ts';

/** The work has to be tried again after a while. `reason` is a code. */
export interface Later {
  readonly retryAfterMs: number;
  readonly reason: string;
}

/** Who asks for work. */
export interface WorkOrder {
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  /** The locale, for `Intl`. */
  readonly locale: string;
  readonly signal: AbortSignal;
}

/** The result of a check of an income. */
export type IncomeEnd = 'confirmed' | 'adjusted' | 'operator' | SourceStepInput | Later;

/** The work beside the conversations. Each piece may be repeated, and then has the same result. */
export interface Performer {
  /** Fetches and reads a file. `inputIndex`: the blind index of the channel's id of its message, as a decimal text. */
  readDocument(
    order: WorkOrder,
    file: StoredFile & { readonly purpose: Purpose; readonly inputIndex: string },
  ): Promise<Extract<WorkInput, { kind: 'document' }>['fate'] | Later>;
  checkIncome(order: WorkOrder): Promise<IncomeEnd>;
  /** Gives the income source the code that it has asked for. */
  answerSource(order: WorkOrder, code: string): Promise<IncomeEnd>;
  /** Finds out what can be offered, before a document is asked for. Makes nothing. */
  outlook(order: WorkOrder): Promise<Outlook | Later>;
  /** Makes the offer; null, or what is wrong with the debts: there is none, and an operator has to look. */
  offer(order: WorkOrder): Promise<WithCosts<OfferShown> | DebtBlock | null | Later>;
  makeContract(order: WorkOrder): Promise<WithCosts<ShownContract> | DebtBlock | null | Later>;
  /** Makes the signed contract with its certificate. */
  finishContract(order: WorkOrder): Promise<ShownContract | null | Later>;
  /** Makes the final schedule; null: the contract has none. */
  makeSchedule(order: WorkOrder): Promise<ShownContract | null | Later>;
  sendCode(
    order: WorkOrder,
  ): Promise<Pick<Extract<WorkInput, { kind: 'code' }>, 'result' | 'way' | 'minutes'> | Later>;
}

/** What the person accepted, for the signature. */
export interface Acceptance {
  /** The SHA-256 of the contract, in hex. */
  readonly contract: string;
  readonly acceptedInput: string;
  /** The turn whose reply showed the contract. */
  readonly shownTurn: number;
}

/**
 * What is proven and told in the transaction of a turn. The functions before `recordEvidence` lock an application, its
 * debts, its contract and its codes. The last two take the locks that come after all locks of applications in the
 * transaction.
 */
export interface Signing {
  checkAnswer(
    session: Transaction,
    applicationId: ApplicationId,
    question: 'last_four' | 'code',
    text: string,
  ): Promise<Proven<Extract<ProofInput, { kind: 'answer' }>['result']>>;
  /** Stores the list of debts that a text has, in the place of what the person told before. */
  tellDebts(
    session: Transaction,
    applicationId: ApplicationId,
    locale: string,
    text: string,
  ): Promise<DebtsInput>;
  /**
   * Adds the debts that were read in a document, once. `documentIndex`: the blind index of the channel's id of its
   * message, as a decimal text; null: there is no document.
   */
  readDebts(
    session: Transaction,
    applicationId: ApplicationId,
    locale: string,
    documentIndex: string | null,
  ): Promise<DebtsInput>;
  /** The list of debts of this moment. */
  askDebts(session: Transaction, applicationId: ApplicationId, locale: string): Promise<DebtsInput>;
  /** What the person told about debts does not count any more. */
  forgetDebts(session: Transaction, applicationId: ApplicationId): Promise<void>;
  sign(session: Transaction, applicationId: ApplicationId, acceptance: Acceptance): Promise<ProvenSignature>;
  /**
   * Withdraws the signature. `sentAt`: when the person sent the words; null: now. `received`: the withdrawal came by
   * another way than the chat.
   */
  withdraw(
    session: Transaction,
    applicationId: ApplicationId,
    sentAt: Date | null,
    received?: ReceivedWithdrawal | null,
  ): Promise<Proven<WithdrawalResult>>;
  /** Records evidence: one call in a transaction, for all of its turns. */
  recordEvidence(session: Transaction, some: readonly NewEvidence[]): Promise<void>;
  /**
   * Rejects the application of a withdrawn signature. Takes the lock of the partner's events. `by`: the operator who
   * recorded the withdrawal; null: the applicant.
   */
  rejectWithdrawn(session: Transaction, applicationId: ApplicationId, by: Withdrawer | null): Promise<void>;
}
