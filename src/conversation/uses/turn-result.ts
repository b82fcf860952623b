/** What one turn works on, and what it comes to. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { EvidenceEntry } from '../../signing/rules/evidence.ts';
import type { TurnReply } from '../rules/compose.ts';
import type { Told } from '../rules/effect.ts';
import type { Flow, Language } from '../rules/flow.ts';
import type { WrittenTurn } from '../sql/conversations.ts';
import type { InputRow, SealedInput } from '../sql/inputs.ts';
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

/** What a turn came to. */
export interface TurnResult {
  readonly written: WrittenTurn;
  readonly applicationId: ApplicationId;
  readonly reply: (TurnReply & { readonly windowUntil: Date; readonly readMessageId: string | null }) | null;
  readonly work: readonly NewWork[];
  readonly told: readonly Told[];
  readonly evidence: readonly EvidenceEntry[];
  /** A signature was withdrawn: the application is to be rejected. */
  readonly withdraws: boolean;
  /** The template that reminds is wanted. */
  readonly reminds: boolean;
}
