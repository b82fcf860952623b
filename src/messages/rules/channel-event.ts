/** The events of a channel about messages and their recipients, in a form that is the same for every channel. */
import type { Phone } from '../../applications/rules/phone.ts';
import type { SendFailure } from './send-result.ts';

/** The statuses of a message that a channel reports. */
export const CHANNEL_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/** The channel reports the status of a message. */
export interface StatusEvent {
  readonly kind: 'status';
  /** The channel's own id of the message. */
  readonly channelMessageId: string;
  /** The text of `formatCallback`; null where the channel does not return it. */
  readonly callback: string | null;
  readonly status: ChannelStatus;
  readonly at: Date;
  /** The meaning of a failure; null for the other statuses. */
  readonly failure: SendFailure | null;
  /** The channel's own id of the recipient; absent where the channel does not tell. */
  readonly recipientUserId?: string | null;
}

/**
 * A person at the channel. WhatsApp leaves out the phone of a person with a user name: then its own id of the person,
 * or the message that the person answers, has to tell whose phone it is.
 */
interface FromPerson {
  readonly from: Phone | null;
  /** The channel's own id of the person; absent where the channel does not tell. */
  readonly userId?: string | null;
}

/** The recipient tapped a button of a message. */
export interface TapEvent extends FromPerson {
  readonly kind: 'tap';
  readonly payload: string;
  /** The title of the button; null where the channel does not tell. */
  readonly title: string | null;
  /** The channel's own id of the message with the button; null where the channel does not tell. */
  readonly contextMessageId: string | null;
  readonly at: Date;
}

/** A person wrote a text. */
export interface TextEvent extends FromPerson {
  readonly kind: 'text';
  readonly body: string;
  /** The channel's own id of the message that the text answers; absent where the text answers none. */
  readonly contextMessageId?: string | null;
  readonly at: Date;
}

/** A person changed the channel's own setting for such messages. */
export interface PreferenceEvent extends FromPerson {
  readonly kind: 'preference';
  readonly wants: 'stop' | 'resume';
  readonly at: Date;
}

export type ChannelEvent = StatusEvent | TapEvent | TextEvent | PreferenceEvent;
