/**
 * The events of a channel about messages and their recipients, in one form for every channel; and a person's message
 * with what is known about the person. Types alone. docs/messages.md ("Channels") has the rule.
 */
import type { BlindIndex } from '../application/ids.ts';
import type { Phone } from '../phone/phone.ts';
import type { SendFailure } from './channel.ts';

/** The statuses of a message that a channel reports. */
export const CHANNEL_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/** The channel reports the status of a message. */
export interface StatusEvent {
  readonly kind: 'status';
  /** The channel's own id of the message. */
  readonly channelMessageId: string;
  /** The text of `formatCallback`; null if the channel does not return it. */
  readonly callback: string | null;
  readonly status: ChannelStatus;
  readonly at: Date;
  /** The meaning of a failure; null for other statuses. */
  readonly failure: SendFailure | null;
  /** The channel's own id of the recipient; absent if the channel does not tell. */
  readonly recipientUserId?: string | null;
}

/**
 * A person at the channel. WhatsApp leaves out the phone of a person with a user name. Then WhatsApp's own id of the
 * person, or the message that the person answers, has to show whose phone it is.
 */
interface FromPerson {
  readonly from: Phone | null;
  /** The channel's own id of the person; absent if the channel does not tell. */
  readonly userId?: string | null;
}

/** The person tapped a button of a message, or chose a row of a list. */
export interface TapEvent extends FromPerson {
  readonly kind: 'tap';
  /** The channel's own id of the person's message; absent if the channel gives none. */
  readonly messageId?: string | null;
  readonly payload: string;
  /** The title of the button or the row; null if the channel does not tell. */
  readonly title: string | null;
  /** The channel's own id of the message with the button; null if the channel does not tell. */
  readonly contextMessageId: string | null;
  readonly at: Date;
}

/** A person wrote a text. */
export interface TextEvent extends FromPerson {
  readonly kind: 'text';
  /** The channel's own id of the person's message; absent if the channel gives none. */
  readonly messageId?: string | null;
  readonly body: string;
  /** The channel's own id of the message that the text answers; absent if the text answers none. */
  readonly contextMessageId?: string | null;
  readonly at: Date;
}

/** The kinds of files that a person can send. */
export const MEDIA_KINDS = ['image', 'document', 'audio', 'video', 'sticker'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

/** A person sent a file, which `Channel.fetchMedia` fetches. What the channel claims about the file is not checked. */
export interface FileEvent extends FromPerson {
  readonly kind: 'file';
  /** The channel's own id of the person's message; null if the channel gives none. */
  readonly messageId: string | null;
  readonly media: MediaKind;
  readonly mediaId: string;
  /** The media type, such as image/jpeg. */
  readonly claimedType: string | null;
  /** 64 lower-case hex digits. */
  readonly claimedSha256: string | null;
  readonly filename: string | null;
  readonly caption: string | null;
  readonly contextMessageId: string | null;
  readonly at: Date;
}

/** The messages of a person that are neither a text, nor a tap, nor a file. */
export const OTHER_MESSAGES = ['location', 'contacts', 'reaction', 'order', 'form', 'unsupported'] as const;
export type OtherMessage = (typeof OTHER_MESSAGES)[number];

/** A person sent something else. `unsupported` is everything that the channel or this service does not know. */
export interface OtherEvent extends FromPerson {
  readonly kind: 'other';
  /** The channel's own id of the person's message; null if the channel gives none. */
  readonly messageId: string | null;
  readonly what: OtherMessage;
  readonly contextMessageId: string | null;
  readonly at: Date;
}

/** A person changed the channel's own setting for such messages. */
export interface PreferenceEvent extends FromPerson {
  readonly kind: 'preference';
  readonly wants: 'stop' | 'resume';
  readonly at: Date;
}

export type ChannelEvent = StatusEvent | TapEvent | TextEvent | FileEvent | OtherEvent | PreferenceEvent;

// The second part: what persons said at the channel, for the subjects that listen (`Service.hear`).

/** A person's message with what is known about the person. The channel may deliver each message any number of times. */
export interface Heard {
  readonly event: TapEvent | TextEvent | FileEvent | OtherEvent;
  /** Of the person's message; null if the channel gives no id. */
  readonly messageIndex: BlindIndex<'channel_message_id'> | null;
  /** null: the phone is not known. */
  readonly phoneIndex: BlindIndex<'phone'> | null;
  /** null: the channel did not tell its own id of the person. */
  readonly userIndex: BlindIndex<'channel_user'> | null;
  /** Of the message that the person answers; null if the channel does not tell. */
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
  /** The person opts out by this message. The opt-out is committed already. */
  readonly optsOut: boolean;
}
