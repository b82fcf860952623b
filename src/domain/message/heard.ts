/** What persons said at the channel, for the subjects that listen (`Service.hear`). Pure. */
import type { BlindIndex } from '../application/ids.ts';
import type { FileEvent, OtherEvent, TapEvent, TextEvent } from './channel-event.ts';

/** A person's message with what is known of the person. The channel may give each message any number of times. */
export interface Heard {
  readonly event: TapEvent | TextEvent | FileEvent | OtherEvent;
  /** Of the person's message; null where the channel gives no id. */
  readonly messageIndex: BlindIndex<'channel_message_id'> | null;
  /** null: the phone is not known. */
  readonly phoneIndex: BlindIndex<'phone'> | null;
  /** null: the channel did not tell its own id of the person. */
  readonly userIndex: BlindIndex<'channel_user'> | null;
  /** Of the message that the person answers; null where the channel does not tell. */
  readonly contextIndex: BlindIndex<'channel_message_id'> | null;
  /** The person opts out by this message. The opt-out is committed already. */
  readonly optsOut: boolean;
}
