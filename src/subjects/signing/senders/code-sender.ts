/** Sends one-time codes over some way (D46). */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import type { Phone } from '../../../domain/phone/phone.ts';

/** The ways of a code. A code by `channel` goes into the same chat: that is no second way, and the evidence says so. */
export type CodeWay = 'sms' | 'channel' | 'simulator';

/** A code for a person. No log and no error may show it. */
export interface PersonsCode {
  readonly phone: Phone;
  readonly code: string;
  readonly language: ContractLanguage;
  readonly lender: string;
}

/**
 * `sent` also where the way may have taken the code and did not say so: then it has no `messageId` of the way. `later`:
 * the way did not take the code, and may take another one after a while. `reason` is a code of the way's own.
 */
export type CodeResult =
  | { readonly kind: 'sent'; readonly messageId: string | null }
  | { readonly kind: 'failed' | 'later'; readonly reason: string };

export interface CodeSender {
  readonly way: CodeWay;
  /** Sends once. Never throws, and resolves within its own time limit, earlier where `signal` aborts. */
  send(code: PersonsCode, signal: AbortSignal): Promise<CodeResult>;
}
