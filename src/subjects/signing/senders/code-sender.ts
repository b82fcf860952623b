/** The interface of what sends one-time codes (D46). */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import type { Phone } from '../../../domain/phone/phone.ts';

/**
 * The ways of a code. A code by `channel` comes into the same chat, so that is no second way, and the evidence says so.
 */
export type CodeWay = 'sms' | 'channel' | 'simulator';

/** A code for a person. No log and no error may contain it. */
export interface PersonsCode {
  readonly phone: Phone;
  readonly code: string;
  readonly language: ContractLanguage;
  readonly lender: string;
}

/**
 * `sent`: the way took the code, or may have taken it without an answer; then there is no `messageId`. `later`: the way
 * did not take the code, and may take another one after a while. `reason` is a code of the way.
 */
export type CodeResult =
  | { readonly kind: 'sent'; readonly messageId: string | null }
  | { readonly kind: 'failed' | 'later'; readonly reason: string };

export interface CodeSender {
  readonly way: CodeWay;
  /** Sends once. Never throws. Resolves within its own time limit, or earlier if `signal` aborts. */
  send(code: PersonsCode, signal: AbortSignal): Promise<CodeResult>;
}
