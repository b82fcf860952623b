/** The outcome of each element of a batch (contract, "Result entry", "Error entry"). */
import type { OutcomeType } from '../message/notify.ts';
import type { Phone } from '../phone/phone.ts';
import type { Decision } from '../scorecard/scorecard.ts';
import type { ApplicationId } from './ids.ts';
import type { Fault } from './read-application.ts';

/** The message that production would send (D32). */
export interface WouldNotify {
  readonly type: OutcomeType;
  readonly destination: Phone;
  readonly template: string;
}

/** The element was registered (in DEV: would be). */
export interface Registered {
  readonly kind: 'registered';
  readonly idNumber: string;
  readonly name: string;
  /** null in DEV. */
  readonly id: ApplicationId | null;
  readonly score: number;
  readonly decision: Decision;
  /** Only in DEV, and only where production would send a message. */
  readonly wouldNotify?: WouldNotify;
}

/** The element was not registered. */
export type NotRegistered =
  | { readonly kind: 'not_an_object' }
  | { readonly kind: 'invalid'; readonly idNumber: string | null; readonly faults: readonly Fault[] }
  | { readonly kind: 'duplicate'; readonly idNumber: string }
  | {
      readonly kind: 'over_quota';
      readonly idNumber: string;
      readonly remaining: number;
      readonly dailyCap: number;
    };

export type Outcome = Registered | NotRegistered;
