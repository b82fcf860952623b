/** The part of a channel that sends one-time codes (D46). A channel without it sends none. */

import type { Phone } from '../phone/phone.ts';
import type { SendResult } from './send-result.ts';

/** A code on its way. No log and no error may show it. */
export interface OutgoingCode {
  readonly phone: Phone;
  /** Six digits. */
  readonly code: string;
  /** What a way with texts of its own shows: who asks, for what, and that nobody else may have the code. */
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
