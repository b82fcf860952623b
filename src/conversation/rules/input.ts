/** Everything that can happen to a conversation. Pure. */
import type { ApplicationStatus } from '../../applications/rules/lifecycle.ts';
import type { Purpose } from './state.ts';

/** The choices of buttons. */
export const CHOICES = [
  'yes',
  'no',
  'done',
  'skip',
  'connect',
  'accept',
  'decline',
  'resend',
  'person',
  'go_on',
] as const;
export type Choice = (typeof CHOICES)[number];

/**
 * What a button stands under: the whole question, the question in short, or the offer of a person's help. A tap of the
 * first kind proves that the phone showed the question.
 */
export const UNDER = ['question', 'short', 'help'] as const;
export type Under = (typeof UNDER)[number];

/** What a person sent. */
export type PersonInput =
  | { readonly kind: 'text'; readonly body: string }
  /** A button of this conversation. */
  | {
      readonly kind: 'tap';
      readonly place: string;
      readonly nonce: number;
      readonly choice: Choice;
      readonly under: Under;
      /** When, by the channel's clock. */
      readonly atMs: number;
    }
  /** A button of something else, such as "I am interested" once more. */
  | { readonly kind: 'foreign_tap' }
  | { readonly kind: 'file'; readonly media: 'image' | 'document' | 'audio' | 'video' | 'sticker' }
  /** A place, a contact, a reaction, or what the channel does not tell. */
  | { readonly kind: 'other'; readonly isQuiet: boolean };

/** Why a document is not used, in the groups that the person is told. */
export const REFUSALS = [
  'gone',
  'too_large',
  'wrong_type',
  'locked',
  'infected',
  'unreadable',
  'too_many',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What the offer is, in the words and numbers that the person reads. */
export interface OfferShown {
  readonly amount: string;
  readonly installment: string;
  readonly months: string;
  readonly total: string;
  readonly rate: string;
  readonly rateName: string;
  readonly lender: string;
}

/** The income source needs something of the person. The link is theirs alone. */
export type SourceStepInput =
  | { readonly kind: 'source_step'; readonly step: 'open_link'; readonly link: string }
  | { readonly kind: 'source_step'; readonly step: 'enter_code' };

/** The ends of work that was done beside the conversation. */
export type WorkInput =
  | {
      readonly kind: 'document';
      readonly purpose: Purpose;
      /** `other_person`: an operator has to look, and the person is told whose it seems to be. */
      readonly fate: 'accepted' | 'operator' | 'other_person' | { readonly refused: Refusal };
    }
  | { readonly kind: 'income'; readonly outcome: 'confirmed' | 'adjusted' | 'operator' }
  | SourceStepInput
  | { readonly kind: 'offer'; readonly offer: OfferShown | null }
  | { readonly kind: 'contract'; readonly contract: ShownContract | null }
  | {
      readonly kind: 'code';
      readonly result: 'sent' | 'failed' | 'no_proof' | 'too_many';
      readonly way: string;
      readonly minutes: number;
    }
  /** The work failed for good. */
  | { readonly kind: 'work_failed' };

/** A contract that can be shown: it is stored, sealed and uploaded. */
export interface ShownContract {
  /** In hex. */
  readonly sha256: string;
  readonly mediaId: string;
  readonly filename: string;
}

/**
 * Whether the person can have read the open question, which they accept. `may`: it is on its way, and the answer may be
 * older. `coming`: it has not gone out.
 */
export type QuestionRead = 'can' | 'cannot' | 'may' | 'coming';

/** What was proven in the transaction of the turn. */
export type ProofInput =
  | { readonly kind: 'answer'; readonly result: 'right' | 'wrong' | 'expired' | 'spent' | 'unreadable' }
  | { readonly kind: 'question_read'; readonly result: QuestionRead }
  /** `until`: the last day to withdraw, in the words of the conversation; null: there is none. */
  | {
      readonly kind: 'signature';
      /** `not_shown`: the contract that was accepted did not reach the person after all. */
      readonly result: 'signed' | 'not_signable' | 'not_shown';
      readonly until: string | null;
    }
  | { readonly kind: 'withdrawal'; readonly result: 'withdrawn' | 'too_late' | 'not_signed' };

export type Input =
  /** `canSay`: the channel's window is open. */
  | { readonly kind: 'begin'; readonly canSay: boolean }
  | PersonInput
  | WorkInput
  | ProofInput
  /** The person wants no more messages, or an operator wants none for the person. */
  | { readonly kind: 'opted_out' }
  /** The application's status changed. */
  | { readonly kind: 'status'; readonly status: ApplicationStatus }
  | { readonly kind: 'timer'; readonly timer: Timer }
  | { readonly kind: 'operator'; readonly act: 'hand_over' | 'give_back' | 'close' }
  /** Something that happened cannot be read. */
  | { readonly kind: 'unreadable' }
  /** The newest reply does not reach the person: the channel's window is closed, or the channel said so. */
  | { readonly kind: 'unsaid' };

/** `remind`: inside the channel's window. `template`: after it. `expire`: the end. */
export type Timer = 'remind' | 'template' | 'expire';

const PERSONS: readonly string[] = ['text', 'tap', 'foreign_tap', 'file', 'other'];

/** Whether a person sent the input. */
export function isOfPerson(input: Input): input is PersonInput {
  return PERSONS.includes(input.kind);
}
