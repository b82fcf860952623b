/** The interface of every channel, in its parts. No method throws: every failure is a result. */
import type { MessageId } from '../application/ids.ts';
import type { CodeChannel } from './code-channel.ts';
import type { OutgoingMessage } from './outgoing-message.ts';
import type { MessageReason } from './reasons.ts';
import type { OutgoingReply } from './reply.ts';
import type { SendResult } from './send-result.ts';

/** Sends the messages that the service begins. */
export interface TemplateChannel {
  /**
   * Sends once. `uncertain` where the channel may have taken the message but did not say so. Resolves within the
   * channel's own time limit, earlier where `signal` aborts.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Messages that go out at any hour; a channel without the set has none. */
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
  /** 64 lower-case hex digits; null where the channel tells none. */
  readonly sha256: string | null;
}

/** `foreign_host`: the channel named an address where the token must not go. */
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
  /** The bytes of a file, of which no more than `maxBytes` are ever held. */
  fetchMedia(
    mediaId: string,
    limits: { readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<MediaResult>;
  /** May be repeated: a file that is uploaded twice has two ids. */
  uploadMedia(file: UploadFile, signal: AbortSignal): Promise<UploadResult>;
}

export interface Channel extends TemplateChannel, ReplyChannel, MediaChannel, Partial<CodeChannel> {
  /** Ends what the channel itself has begun. */
  close?(): Promise<void>;
}
