/**
 * The inputs of a conversation: everything that can happen to it, from the person, the channel, an operator, a timer or
 * finished work. Types, and the lists of their words. Pure. docs/conversation.md ("Inputs, turns and replies") has the
 * rule.
 */
import type { ApplicationStatus } from '../application/lifecycle.ts';
import type { DebtBlock } from '../loan/debt.ts';
import type { LineFault } from '../loan/read-debts.ts';
import type { WithdrawalResult } from '../loan/withdrawal.ts';
import type { ToldReply } from '../message/reply.ts';
import type { Step } from './places.ts';
import type { ApprovalMessage, Purpose } from './state.ts';

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
  'stop',
  'right',
  'change',
] as const;
export type Choice = (typeof CHOICES)[number];

/**
 * The text above a button: the whole question, the question in short, or a question beside it, as whether the person
 * wants a person's help or no more messages. A tap under the
 * whole question proves that the phone showed it.
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
  /** A location, a contact, a reaction, or something that the channel does not show. */
  | { readonly kind: 'other'; readonly isQuiet: boolean };

/** Why a document is not used, in groups: the person is told the group. */
export const REFUSALS = [
  'gone',
  'too_large',
  'wrong_type',
  'locked',
  'infected',
  'unreadable',
  'too_many',
] as const;
export type DocumentRefusal = (typeof REFUSALS)[number];

/** The offer, in the words and numbers that the person reads. */
export interface OfferShown {
  readonly amount: string;
  /** What is paid out, of that to creditors, and of that to the person. */
  readonly net: string;
  readonly creditors: string;
  readonly toApplicant: string;
  readonly installment: string;
  readonly months: string;
  readonly total: string;
  /** All fees and premiums of insurances, and all taxes, over the whole loan. */
  readonly fees: string;
  readonly taxes: string;
  /** The yearly rate of the interest alone, with its name. */
  readonly interestRate: string;
  readonly interestRateName: string;
  /** The yearly rate with all charges, with its name. */
  readonly rate: string;
  readonly rateName: string;
  /** The monthly rate of late interest, or that there is none. */
  readonly lateRate: string;
  readonly lender: string;
  /** The planned day of the paying out, the day of the first installment, and the last day for a signature. */
  readonly disbursement: string;
  readonly firstDue: string;
  readonly validUntil: string;
  /** How long the person may withdraw after the signature. */
  readonly withdrawal: string;
}

/** Why nothing can be offered, where it is about the application itself, so that the person hears it. */
export const OUTLOOK_REASONS = ['below_minimum', 'above_limit', 'wrong_currency', 'short_id_number'] as const;
export type OutlookReason = (typeof OUTLOOK_REASONS)[number];

/**
 * What can be offered before the documents, as the person reads it. `reason` null: an operator has to mend something.
 * `limit`: the least or the most amount, or the currency, of the lender.
 */
export type Outlook =
  | {
      readonly isPossible: true;
      readonly amount: string;
      readonly months: string;
      readonly installment: string;
    }
  | { readonly isPossible: false; readonly reason: OutlookReason | null; readonly limit: string };

/** An offer or a contract, and its costs as one value: a contract is not shown if its costs differ from the offer's. */
export type WithCosts<T> = T & { readonly costs: string };

/** The income source needs something from the person. The link is for this person alone. */
export type SourceStepInput =
  | { readonly kind: 'source_step'; readonly step: 'open_link'; readonly link: string }
  | { readonly kind: 'source_step'; readonly step: 'enter_code' };

/**
 * An operator rejected a file that was usable, or accepted one that was not. `number`: which of the person's files it
 * is, in the order of their sending, from 1 on. `usable`: the files of the application that can be used now.
 */
export interface DocumentDecided {
  readonly kind: 'document_decided';
  readonly purpose: Purpose;
  readonly isUsable: boolean;
  readonly number: number;
  readonly usable: Readonly<Record<Purpose, number>>;
}

/** The results of work that was done beside the conversation. */
export type WorkInput =
  | {
      readonly kind: 'document';
      readonly purpose: Purpose;
      /**
       * `other_person`: an operator has to look, and the person is told whose file it seems to be. `by_person`: the
       * service reads no more files of this person today, and they are told so.
       */
      readonly fate:
        | 'accepted'
        | 'operator'
        | 'other_person'
        | 'by_person'
        | { readonly refused: DocumentRefusal };
    }
  | { readonly kind: 'income'; readonly outcome: 'confirmed' | 'adjusted' | 'operator' }
  | SourceStepInput
  | { readonly kind: 'outlook'; readonly outlook: Outlook }
  /** `why`: an operator has to look at the debts. */
  | { readonly kind: 'offer'; readonly offer: WithCosts<OfferShown> | null; readonly why?: DebtBlock }
  | {
      readonly kind: 'contract';
      readonly contract: WithCosts<ShownContract> | null;
      readonly why?: DebtBlock;
    }
  /** With its certificate; null: the channel takes no such file. */
  | { readonly kind: 'signed_contract'; readonly contract: ShownContract | null }
  /** The final schedule; null: there is none, or the channel takes no such file. */
  | { readonly kind: 'schedule'; readonly schedule: ShownContract | null }
  | {
      readonly kind: 'code';
      /** `sent_again`: the earlier code does not count any more. */
      readonly result: 'sent' | 'sent_again' | 'failed' | 'no_proof' | 'too_many';
      readonly way: string;
      readonly minutes: number;
    }
  /** The work failed for good. */
  | { readonly kind: 'work_failed' };

/** A contract that can be shown, before the signature or after it: it is stored, sealed and uploaded. */
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

/**
 * What became of the list of debts, in the transaction of the turn. `told`: it counts from now on, in the words of the
 * chat. `again`: the person has to write these lines again. `same`: a document adds nothing. `fixed`: the list may not
 * change any more. `refused`: the debts of a document break a rule of the list.
 */
export type DebtsInput =
  | { readonly kind: 'debts'; readonly result: 'told'; readonly debts: string; readonly sum: string }
  | {
      readonly kind: 'debts';
      readonly result: 'again';
      readonly fault: LineFault;
      readonly numbers: string;
    }
  | { readonly kind: 'debts'; readonly result: 'none' | 'same' | 'too_many' | 'fixed' | 'refused' };

/** The result of a proof that was made in the transaction of the turn. */
export type ProofInput =
  | { readonly kind: 'answer'; readonly result: 'right' | 'wrong' | 'expired' | 'spent' | 'unreadable' }
  | { readonly kind: 'question_read'; readonly result: QuestionRead }
  /** `lastDay`: the last day to withdraw, in the words of the conversation; null: the country gives no time. */
  | {
      readonly kind: 'signature';
      /** `not_shown`: the contract that was accepted did not reach the person after all. */
      readonly result: 'signed' | 'not_signable' | 'not_shown';
      readonly withdrawal: { readonly lastDay: string; readonly untilMs: number } | null;
    }
  | { readonly kind: 'withdrawal'; readonly result: WithdrawalResult };

/**
 * What is known about the reply with the signed contract. `isLost`: it was cancelled, failed or is uncertain; otherwise
 * it arrived, or may still arrive.
 */
export interface CopyReply {
  readonly kind: 'copy_reply';
  readonly isLost: boolean;
}

/** The same about the reply with the final schedule. */
export interface ScheduleReply {
  readonly kind: 'schedule_reply';
  readonly isLost: boolean;
}

/** What an operator does. `step`: the step to which the conversation is given back; absent: the one where it stands. */
export interface OperatorInput {
  readonly kind: 'operator';
  readonly act: 'hand_over' | 'give_back' | 'close';
  readonly step?: Step;
}

export type Input =
  /** `canSay`: the channel's window is open. */
  | { readonly kind: 'begin'; readonly canSay: boolean }
  | PersonInput
  | WorkInput
  | ProofInput
  | DebtsInput
  | DocumentDecided
  /** The person wants no more messages, or an operator wants none for the person. */
  | { readonly kind: 'opted_out' }
  /** The application's status changed. `canSay`: as that of `begin`; absent: it is open. */
  | { readonly kind: 'status'; readonly status: ApplicationStatus; readonly canSay?: boolean }
  /** What is known, when a turn begins, about the message outside the chat that reports the approval. */
  | { readonly kind: 'approval_message'; readonly message: ApprovalMessage }
  /** What became of the reply that reported the approval. */
  | { readonly kind: 'approval_reply'; readonly reply: ToldReply | null }
  /** `mayRemind`: the contact window of the person's country is open. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly mayRemind: boolean }
  | OperatorInput
  /** An operator records that the person withdraws by another way than the chat. */
  | { readonly kind: 'withdrawal_received' }
  /** The loan is paid out, so the days of its installments are known. */
  | { readonly kind: 'paid_out' }
  /** A message of the conversation came from another phone than the application's. */
  | { readonly kind: 'other_phone' }
  /** A new day has begun since the person's previous message. */
  | { readonly kind: 'next_day' }
  /** The time to withdraw the signature was over when the person wrote. */
  | { readonly kind: 'withdrawal_over' }
  /** An input whose data cannot be read. */
  | { readonly kind: 'unreadable' }
  /** The newest reply does not reach the person: the channel's window is closed, or the channel said so. */
  | { readonly kind: 'unsaid' }
  | CopyReply
  | ScheduleReply;

/** `remind`: inside the channel's window. `template`: after it. `expire`: the end. */
export type Timer = 'remind' | 'template' | 'expire';

const PERSONS: readonly string[] = ['text', 'tap', 'foreign_tap', 'file', 'other'];

/** Whether a person sent the input. */
export function isOfPerson(input: Input): input is PersonInput {
  return PERSONS.includes(input.kind);
}
