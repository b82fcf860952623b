import type { MessageReason } from './reasons.ts';

/**
 * The result of a send. `reason` is a short code (`131026`, `timeout`), never personal data. A `retry` without
 * `afterMs` backs off. `pause_recipient` is a retry after a pause for one phone. `wait` puts the message off for
 * `afterMs`.
 * `pause_template` and `pause_sender` hold all messages of the template or the sender until an operator resumes them.
 */
export type SendResult =
  | { readonly kind: 'accepted'; readonly channelMessageId: string }
  | { readonly kind: 'retry'; readonly reason: MessageReason; readonly afterMs?: number }
  | { readonly kind: 'pause_recipient'; readonly reason: MessageReason; readonly afterMs: number }
  | { readonly kind: 'wait'; readonly reason: MessageReason; readonly afterMs: number }
  | { readonly kind: 'give_up'; readonly reason: MessageReason }
  | { readonly kind: 'opted_out'; readonly reason: MessageReason }
  | { readonly kind: 'pause_template'; readonly reason: MessageReason }
  | { readonly kind: 'pause_sender'; readonly reason: MessageReason }
  | { readonly kind: 'uncertain'; readonly reason: MessageReason };

/** A result of a message that did not go out. It may also come later, in a channel event. */
export type SendFailure = Exclude<SendResult, { readonly kind: 'accepted' | 'uncertain' }>;
