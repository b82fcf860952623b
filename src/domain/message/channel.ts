/**
 * The interface that every channel implements, in its parts, with one-time codes (D46). No method throws: every failure
 * is a result. Types alone. docs/messages.md ("Channels") has the rule.
 */
import type { MessageId } from '../application/ids.ts';
import type { Phone } from '../phone/phone.ts';
import type { OutgoingMessage } from './outgoing-message.ts';
import type { MessageReason } from './reasons.ts';
import type { OutgoingReply } from './reply.ts';

/** Sends the messages that the service begins. */
export interface TemplateChannel {
  /**
   * Sends once. `uncertain` if the channel may have taken the message but did not say so. Resolves within the channel's
   * own time limit, earlier if `signal` aborts.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Messages that may go out at any hour; without this member there are none. */
  readonly released?: ReadonlySet<MessageId>;
}

/** Answers a person within the channel's 24 hours. */
export interface ReplyChannel {
  /** Sends once, as `send` does. `give_up` with the reason `unsendable` for a reply with a fault (`replyFaults`). */
  sendReply(reply: OutgoingReply, signal: AbortSignal): Promise<SendResult>;
  /** Marks a person's message as read and shows that an answer is being typed. Nobody learns whether that worked. */
  markRead(channelMessageId: string, signal: AbortSignal): Promise<void>;
}

/** A file that a person sent; what the channel claims about the bytes is not checked. */
interface FetchedMedia {
  readonly kind: 'media';
  readonly bytes: Buffer;
  readonly contentType: string | null;
  /** 64 lower-case hex digits; null if the channel tells none. */
  readonly sha256: string | null;
}

/** `foreign_host`: the channel named an address that must not get the token. */
export type MediaReason = MessageReason | 'foreign_host';

export type MediaResult =
  | FetchedMedia
  /** The channel does not have the file any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'retry'; readonly reason: MediaReason };

export type UploadResult =
  | { readonly kind: 'uploaded'; readonly mediaId: string }
  /** `refused`: the channel will not take this file. */
  | { readonly kind: 'retry' | 'refused'; readonly reason: MessageReason };

/** A file for a person. */
export interface UploadFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly filename: string;
}

/** Files of both directions. */
export interface MediaChannel {
  /** The bytes of a file; never holds more than `maxBytes`. */
  fetchMedia(
    mediaId: string,
    limits: { readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<MediaResult>;
  /** May be repeated; then the file has two ids. */
  uploadMedia(file: UploadFile, signal: AbortSignal): Promise<UploadResult>;
}

export interface Channel extends TemplateChannel, ReplyChannel, MediaChannel, Partial<CodeChannel> {
  /** Ends what the channel itself has begun. */
  close?(): Promise<void>;
}

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

// The part of a channel that sends one-time codes (D46). A channel without this part sends no codes.

/** A code on its way. No log and no error may show it. */
export interface OutgoingCode {
  readonly phone: Phone;
  /** Six digits. */
  readonly code: string;
  /** The text for a channel that shows its own texts: who asks, for what, and that nobody else may have the code. */
  readonly text: string;
  /** The name of the channel's authentication template, and the code of its language. */
  readonly template: string;
  readonly language: string;
}

export interface CodeChannel {
  /** `simulator`: to another phone of the page. `channel`: into the same chat, which is no second way. */
  readonly codeWay: 'channel' | 'simulator';
  /** Sends once, as `send` does. */
  sendCode(code: OutgoingCode, signal: AbortSignal): Promise<SendResult>;
}
