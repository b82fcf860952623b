/** The delivery of a message: what goes out, what can come back, and when to try again. Pure. */
import type { MessageStatus, MessageType } from './notify.ts';

/** The languages that messages are written in, by the country of the recipient's phone. */
export const MESSAGE_LANGUAGES = ['es', 'pt'] as const;
export type MessageLanguage = (typeof MESSAGE_LANGUAGES)[number];

/** What a button says, and what comes back when it is tapped. */
export interface Button {
  readonly title: string;
  readonly payload: string;
}

/** A template as the channel knows it, with its parameters in order. */
interface TemplateCall {
  readonly name: string;
  /** The code under which the template was approved, such as es or es_CO. */
  readonly language: string;
  readonly parameters: readonly string[];
}

export interface OutgoingMessage {
  readonly applicationId: number;
  /** Counts from 1. */
  readonly attempt: number;
  readonly type: MessageType;
  /** E.164. */
  readonly phone: string;
  /** The text as the recipient reads it. */
  readonly text: string;
  readonly buttons: readonly Button[];
  readonly template: TemplateCall;
  /** Comes back with each of the message's events; holds nothing personal. See `formatCallback`. */
  readonly callback: string;
}

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

/** What a send tells of the channel itself. */
export type ChannelSign =
  /** It gave an answer about this message, whatever it was. */
  | 'alive'
  /** It gave none, or one that tells nothing of the message: the next message would meet the same. */
  | 'failing'
  /** We cut it off ourselves. */
  | 'none';

export function channelSign(result: SendResult): ChannelSign {
  if (result.kind !== 'retry' && result.kind !== 'uncertain') return 'alive';
  return result.reason === 'aborted' ? 'none' : 'failing';
}

/** What a status event of the channel says of a message. */
export const CHANNEL_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/**
 * How far along each status is. Events come shuffled, doubled, early and late: the highest wins, so that any
 * order ends the same. A message that was delivered did not fail, whatever an earlier event says.
 */
export const PROGRESS: Readonly<Record<MessageStatus, number>> = {
  queued: 0,
  sending: 0,
  uncertain: 0,
  cancelled: 0,
  accepted: 1,
  sent: 2,
  failed: 3,
  delivered: 4,
  read: 5,
};

export function formatCallback(applicationId: number, attempt: number): string {
  return `${applicationId}.${attempt}`;
}

/** The inverse of `formatCallback`; null for a text that it did not make. */
export function parseCallback(text: string): { applicationId: number; attempt: number } | null {
  const [, applicationId, attempt] = /^([1-9]\d{0,14})\.([1-9]\d{0,3})$/.exec(text) ?? [];
  if (applicationId === undefined || attempt === undefined) return null;
  return { applicationId: Number(applicationId), attempt: Number(attempt) };
}

/** The payload of the "I am interested" button of an application's message. */
export function interestPayload(applicationId: number): string {
  return `interested.${applicationId}`;
}

/** The application of an interest payload; null for another payload. */
export function parseInterestPayload(payload: string): number | null {
  const [, id] = /^interested\.([1-9]\d{0,14})$/.exec(payload) ?? [];
  return id === undefined ? null : Number(id);
}

/** Tries before a message that could only be retried has failed: about two hours of them, or four days. */
export const MAX_TRIES = 16;
const MAX_WAITING_TRIES = 4;
const FIRST_BACKOFF_MS = 8_000;
const MAX_BACKOFF_MS = 15 * 60_000;

/**
 * How long to wait after the given try (from 1), in milliseconds: doubles up to a quarter of an hour, and
 * `random` (0 to 1) takes away up to half, so that messages that failed together do not come back together.
 */
export function backoffMs(tries: number, random: number): number {
  const full = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), MAX_BACKOFF_MS);
  return Math.round(full * (1 - random / 2));
}

/** From when an operator may settle an uncertain message: by then the channel's events have come or never will. */
export const SETTLE_AFTER_MS = 60 * 60_000;

/** How a message goes on after an attempt; `afterMs` is when it is due again, or may be settled. */
export interface AttemptOutcome {
  readonly status: Extract<MessageStatus, 'accepted' | 'queued' | 'failed' | 'uncertain'>;
  readonly channelMessageId: string | null;
  readonly reason: string | null;
  readonly afterMs: number;
}

/** What a result means for its message after the given try (from 1); `random` as in `backoffMs`. */
export function outcomeOf(result: SendResult, tries: number, random: number): AttemptOutcome {
  if (result.kind === 'accepted') {
    const { channelMessageId } = result;
    return { status: 'accepted', channelMessageId, reason: null, afterMs: 0 };
  }
  const { reason } = result;
  const ended = (status: 'failed' | 'uncertain', afterMs: number) =>
    ({ status, channelMessageId: null, reason, afterMs }) as const;
  const again = (afterMs: number) => ({ status: 'queued', channelMessageId: null, reason, afterMs }) as const;
  switch (result.kind) {
    case 'retry':
      return tries >= MAX_TRIES ? ended('failed', 0) : again(result.afterMs ?? backoffMs(tries, random));
    case 'pause_recipient':
      return tries >= MAX_TRIES ? ended('failed', 0) : again(result.afterMs);
    case 'wait':
      return tries >= MAX_WAITING_TRIES ? ended('failed', 0) : again(result.afterMs);
    // What they wait for is an operator.
    case 'pause_template':
    case 'pause_sender':
      return again(0);
    case 'give_up':
    case 'opted_out':
      return ended('failed', 0);
    case 'uncertain':
      return ended('uncertain', SETTLE_AFTER_MS);
  }
}
