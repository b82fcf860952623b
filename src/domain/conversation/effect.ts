/**
 * The effects of a conversation's turn: what it wants to be said, done, told to the partner or recorded. Types, and
 * makers of replies. Pure. docs/conversation.md ("Inputs, turns and replies") has the rule.
 */
import type { QuestionKey, TextKey, Values } from './flow.ts';
import type { Choice, ShownContract } from './input.ts';
import type { Purpose } from './state.ts';

/**
 * Work beside the conversation, which takes time and may be repeated. `read_document` and `answer_source` are about the
 * input that caused them: a file, or the code for an income source.
 */
export const WORKS = [
  'read_document',
  'check_income',
  'offer',
  'make_contract',
  'send_code',
  'answer_source',
  'finish_contract',
  'make_schedule',
] as const;
export type Work = (typeof WORKS)[number];

/** The events of a conversation that partners may ask for (D47). */
export type Told =
  | {
      readonly event:
        | 'conversation.started'
        | 'documents.received'
        | 'contract.signed'
        | 'contract.withdrawn';
    }
  | { readonly event: 'income.verified'; readonly outcome: 'confirmed' | 'adjusted' | 'operator' }
  | {
      readonly event: 'conversation.ended';
      readonly outcome: 'signed' | 'declined' | 'withdrawn' | 'expired' | 'closed';
    };

/** What a person does that is kept as evidence, with the input that says it. */
export const ACTS = [
  'data_consent_given',
  'data_consent_refused',
  'offer_accepted',
  'contract_accepted',
  'declined',
  'withdrawal_asked',
] as const;
export type EvidenceAct = (typeof ACTS)[number];

export type Effect =
  | SayEffect
  | { readonly kind: 'work'; readonly work: Exclude<Work, 'read_document'> }
  | { readonly kind: 'work'; readonly work: 'read_document'; readonly purpose: Purpose }
  /** Compares the text of this input; the result is the next input. */
  | { readonly kind: 'check'; readonly question: 'last_four' | 'code' }
  /**
   * Finds out whether the person can have read the question that they accept; the result is the next input. `isProven`:
   * they tapped a button under the question, so it is enough that the channel took the question.
   */
  | { readonly kind: 'look'; readonly isProven: boolean }
  /**
   * About the list of debts. `tell`: stores the list in the text of this input; `read`: adds what was read in the
   * document of this input; `ask`: reads the list; the result is the next input. `forget`: what the person told does
   * not count any more.
   */
  | { readonly kind: 'debts'; readonly act: 'tell' | 'read' | 'ask' | 'forget' }
  /** Signs; the result is the next input. */
  | { readonly kind: 'sign' }
  /** Withdraws the signature; the result is the next input. */
  | { readonly kind: 'withdraw' }
  | ({ readonly kind: 'tell' } & Told)
  | { readonly kind: 'evidence'; readonly act: EvidenceAct }
  /** Queues the template that reminds the person outside of the channel's window. */
  | { readonly kind: 'remind' };

/** A part of the turn's reply. */
export interface SayEffect {
  readonly kind: 'say';
  readonly text: TextKey;
  readonly values: Values;
  readonly choices: readonly Choice[];
  readonly document: ShownContract | null;
  /** A link for this person alone, at the end of the reply. */
  readonly link: string | null;
  /** A question replaces every earlier question of the same reply. */
  readonly isQuestion: boolean;
}

/** A sentence without buttons. */
export function say(text: TextKey, values: Values = {}): SayEffect {
  return { kind: 'say', text, values, choices: [], document: null, link: null, isQuestion: false };
}

/** A question, and its buttons. */
export function ask(text: QuestionKey, choices: readonly Choice[], values: Values = {}): SayEffect {
  return { kind: 'say', text, values, choices, document: null, link: null, isQuestion: true };
}
