/** What a channel tells of messages and of the people who get them, in no channel's own words. */
import type { Phone } from '../application/phone.ts';
import type { SendFailure } from './send-result.ts';

/** What a status event of the channel says of a message. */
export const CHANNEL_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/** How a message fares. */
export interface StatusEvent {
  readonly kind: 'status';
  /** The channel's own id of the message. */
  readonly channelMessageId: string;
  /** As `formatCallback` made it; null where the channel does not give it back. */
  readonly callback: string | null;
  readonly status: ChannelStatus;
  readonly at: Date;
  /** What the failure means; null for the other statuses. */
  readonly failure: SendFailure | null;
}

/** A button of a message was tapped. */
export interface TapEvent {
  readonly kind: 'tap';
  readonly payload: string;
  /** What the button says; null where the channel does not tell. */
  readonly title: string | null;
  /** The channel's own id of the message that has the button; null where it does not say. */
  readonly contextMessageId: string | null;
  readonly from: Phone;
  readonly at: Date;
}

/** Someone wrote. */
export interface TextEvent {
  readonly kind: 'text';
  readonly from: Phone;
  readonly body: string;
  readonly at: Date;
}

/** Someone told the channel to stop such messages, or to let them come again. */
export interface PreferenceEvent {
  readonly kind: 'preference';
  readonly phone: Phone;
  readonly wants: 'stop' | 'resume';
  readonly at: Date;
}

export type ChannelEvent = StatusEvent | TapEvent | TextEvent | PreferenceEvent;
