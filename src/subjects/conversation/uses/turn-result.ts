/** What one turn works on, and what it comes to. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Told } from '../../../domain/conversation/effect.ts';
import type { Flow, Language } from '../../../domain/conversation/flow.ts';
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

/** How a conversation speaks. */
export interface Voice {
  readonly flow: Flow;
  readonly language: Language;
  /** For Intl. */
  readonly locale: string;
  readonly partner: string;
}

/** What is known of a conversation beside its row and its inputs. */
export interface TurnFacts {
  /** An input cannot be read. */
  readonly isDamaged: boolean;
  /** Of the newest reply: `never`: it will not arrive. `maybe`: the channel did not say that it took the reply. */
  readonly untold: 'never' | 'maybe' | null;
  /** The channel's id of the person's message that the turn answers, where it takes none; null: there is none. */
  readonly answers: string | null;
  /** The message outside the chat that tells of an approval. Read where the conversation may have to tell it. */
  readonly approvalMessage: ApprovalMessage;
  /** A reminder may go out now. */
  readonly mayRemind: boolean;
}

/** What a turn came to. */
export interface TurnResult {
  readonly written: Omit<WrittenTurn, 'hasHeard' | 'isTrimmed'>;
  readonly applicationId: ApplicationId;
  readonly reply: (TurnReply & { readonly windowUntil: Date; readonly readMessageId: string | null }) | null;
  readonly work: readonly NewWork[];
  readonly told: readonly Told[];
  readonly evidence: readonly EvidenceEntry[];
  /**
   * null: no signature was withdrawn. Otherwise the application is to be rejected; `by`: the operator who recorded it,
   * or null for the person in the chat.
   */
  readonly withdraws: { readonly by: Withdrawer | null } | null;
  /** The reply tells that the review approved: no message outside the chat does. */
  readonly tellsApproval: boolean;
  /** The reply tells that a withdrawal is recorded. */
  readonly tellsWithdrawal: boolean;
  /** The template that reminds is wanted. */
  readonly reminds: boolean;
}
