/** What every channel does: takes one message and says what became of it. It never throws. */
import type { OutgoingMessage } from '../domain/message/outgoing-message.ts';
import type { SendResult } from '../domain/message/send-result.ts';

export interface Channel {
  /**
   * Sends once. Whatever happens is a result: `uncertain` where the channel may have taken the message but did
   * not say so. Settles within the channel's own time limit, earlier when `signal` aborts.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
}
