/** The interface of every channel: it takes one message and returns the send result. It never throws. */
import type { MessageId } from '../../applications/rules/ids.ts';
import type { OutgoingMessage } from '../rules/outgoing-message.ts';
import type { SendResult } from '../rules/send-result.ts';

export interface Channel {
  /**
   * Sends once. Every failure is a result: `uncertain` where the channel may have taken the message but did not say so.
   * Resolves within the channel's own time limit, earlier where `signal` aborts.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Messages that go out at any hour; a channel without the set has none. */
  readonly released?: ReadonlySet<MessageId>;
  /** Ends what the channel itself has begun. */
  close?(): Promise<void>;
}
