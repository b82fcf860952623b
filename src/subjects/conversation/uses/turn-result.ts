/** The types of what one turn works on, and of its result. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Told } from '../../../domain/conversation/effect.ts';
import type { Flow, Language, Values } from '../../../domain/conversation/flow.ts';
import type { ApprovalMessage } from '../../../domain/conversation/state.ts';
import type { EvidenceEntry } from '../../../domain/evidence/evidence.ts';
import type { Withdrawer } from '../../../domain/loan/withdrawal.ts';
import type { TurnReply } from '../rules/compose.ts';
import type { InputRow, SealedInput } from '../sql/inputs.ts';
import type { WrittenTurn } from '../sql/turns.ts';
import type { NewWork } from '../sql/work.ts';

/** An input that this process can read. */
export interface OpenedInput {
  readonly row: InputRow;
  readonly content: SealedInput;
}

/** How a conversation speaks: flow, language and the partner's name. */
export interface Voice {
  readonly flow: Flow;
  readonly language: Language;
  /** The locale, for `Intl`. */
  readonly locale: string;
  readonly partner: string;
  /** What the question for the consent tells about the lender. */
  readonly consent: Values;
  /**
   * The SHA-256 of what the partner told about the consent, in hex, at the first turn alone; null: it told nothing, or
   * the turn is another one.
   */
  readonly partnerConsent: string | null;
}

/** What a turn knows about a conversation beside its row and its inputs. */
export interface TurnFacts {
  /** One of the inputs cannot be read. */
  readonly isDamaged: boolean;
  /**
   * The fate of the newest reply. `never`: it will not arrive. `maybe`: the channel did not say that it took the reply.
   * Null: neither.
   */
  readonly untold: 'never' | 'maybe' | null;
  /** The channel's id of the message that the turn answers if it takes no message itself; null: there is none. */
  readonly answers: string | null;
  /** The message outside the chat that tells the approval. Read only if the conversation may have to tell it. */
  readonly approvalMessage: ApprovalMessage;
  /** A reminder may go out now. */
  readonly mayRemind: boolean;
}

/** The result of a turn. */
export interface TurnResult {
  readonly written: Omit<WrittenTurn, 'hasHeard' | 'isTrimmed'>;
  readonly applicationId: ApplicationId;
  readonly reply: (TurnReply & { readonly windowUntil: Date; readonly readMessageId: string | null }) | null;
  readonly work: readonly NewWork[];
  readonly told: readonly Told[];
  readonly evidence: readonly EvidenceEntry[];
  /**
   * Whether a signature was withdrawn, so that the application has to be rejected; null: none was. `by`: the operator
   * who recorded the withdrawal, or null for the person in the chat.
   */
  readonly withdraws: { readonly by: Withdrawer | null } | null;
  /** The reply tells that the review approved, so no message outside the chat has to. */
  readonly tellsApproval: boolean;
  /** The reply tells that a withdrawal is recorded. */
  readonly tellsWithdrawal: boolean;
  /** The template that reminds has to be sent. */
  readonly reminds: boolean;
}
