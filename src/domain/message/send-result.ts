/**
 * What became of a send. `reason` is a short code (`131026`, `timeout`), never personal data. `retry` backs off
 * on its own where `afterMs` is absent; `pause_recipient` is a retry that one phone asks for; `wait` keeps the
 * message from going out for that long; `pause_template` and `pause_sender` hold all that they concern until an
 * operator acts.
 */
export type SendResult =
  | { readonly kind: 'accepted'; readonly channelMessageId: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly kind: 'pause_recipient'; readonly reason: string; readonly afterMs: number }
  | { readonly kind: 'wait'; readonly reason: string; readonly afterMs: number }
  | { readonly kind: 'give_up'; readonly reason: string }
  | { readonly kind: 'opted_out'; readonly reason: string }
  | { readonly kind: 'pause_template'; readonly reason: string }
  | { readonly kind: 'pause_sender'; readonly reason: string }
  | { readonly kind: 'uncertain'; readonly reason: string };

/** A result that says that the message did not go out. The channel may tell of it later, in an event. */
export type SendFailure = Exclude<SendResult, { readonly kind: 'accepted' | 'uncertain' }>;
