/** Sends and fetches through WhatsApp's Cloud API, one message or file a request. */

import type { Channel } from '../../../domain/message/channel.ts';
import { replyFaults } from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type PostLimits, postOnce } from './post-once.ts';
import { resultOf } from './whatsapp-answers.ts';
import { codeBody, readBody, replyBody, templateBody } from './whatsapp-bodies.ts';
import { whatsappMedia } from './whatsapp-media.ts';

interface WhatsAppSettings {
  /** With the API's version, without a slash at the end. */
  readonly apiUrl: string;
  readonly phoneNumberId: string;
  readonly accessToken: string;
}

const LIMITS: PostLimits = { timeoutMs: 10_000, maxAnswerBytes: 64 * 1_024, idleMs: 4_000 };
/** A reply waits for its read mark: a slow mark is given up. */
const READ_WITHIN_MS = 2_000;

/**
 * The API offers no key for idempotent sends, so a result is `retry` only where the message was surely not sent; see
 * `resultOf`. A result holds neither the token nor personal data. Throws where a setting cannot be part of a request.
 */
export function whatsappChannel(
  settings: WhatsAppSettings,
  clock: Clock,
  limits: PostLimits = LIMITS,
): Channel {
  const url = new URL(`${settings.apiUrl}/${settings.phoneNumberId}/messages`);
  const headers = { Authorization: `Bearer ${settings.accessToken}`, 'Content-Type': 'application/json' };
  const options = { ...limits, clock };
  const post = postOnce(url, headers, options);
  const mark = postOnce(url, headers, { ...options, timeoutMs: Math.min(limits.timeoutMs, READ_WITHIN_MS) });
  return {
    async send(message, signal) {
      return resultOf(await post(JSON.stringify(templateBody(message)), signal), message.attempt);
    },
    async sendReply(reply, signal) {
      if (replyFaults(reply).length > 0) return { kind: 'give_up', reason: 'unsendable' };
      return resultOf(await post(JSON.stringify(replyBody(reply)), signal), reply.attempt);
    },
    async markRead(channelMessageId, signal) {
      await mark(JSON.stringify(readBody(channelMessageId)), signal);
    },
    codeWay: 'channel',
    async sendCode(code, signal) {
      return resultOf(await post(JSON.stringify(codeBody(code)), signal), 1);
    },
    ...whatsappMedia(settings, clock, limits),
  };
}
