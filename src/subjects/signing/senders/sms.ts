/**
 * Sends one-time codes by SMS, over Twilio's Messages API or one that works like it: it posts a form to
 * `/2010-04-01/Accounts/{sid}/Messages.json` with the account and its token, and gets 201 with JSON
 * (https://www.twilio.com/docs/messaging/api/message-resource).
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { type PostLimits, postOnce } from '../../messages/channels/post-once.ts';
import { codeText } from '../rules/code-text.ts';
import type { CodeSender } from './code-sender.ts';

export interface SmsSettings {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** A phone, a sender's name, or a messaging service. */
  readonly from: string;
}

const LIMITS: PostLimits = { timeoutMs: 10_000, maxAnswerBytes: 64 * 1_024, idleMs: 4_000 };
const MESSAGING_SERVICE = /^MG[0-9a-f]{32}$/;

/** Throws if a setting cannot be part of a request. */
export function smsCodes(
  { apiUrl, accountSid, authToken, from }: SmsSettings,
  clock: Clock,
  limits = LIMITS,
): CodeSender {
  const post = postOnce(
    new URL(`${apiUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`),
    {
      Authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    { ...limits, clock },
  );
  const sender = MESSAGING_SERVICE.test(from) ? { MessagingServiceSid: from } : { From: from };
  return {
    way: 'sms',
    async send({ phone, code, language, lender }, signal) {
      const text = codeText(language, code, lender);
      const posted = await post(new URLSearchParams({ To: phone, ...sender, Body: text }).toString(), signal);
      // A code that may have gone out counts as sent. If it did not arrive, the person asks for another one.
      if (posted.kind === 'in_doubt') return { kind: 'sent', messageId: null };
      if (posted.kind === 'unsent') return { kind: 'later', reason: posted.reason };
      const { status, body } = posted;
      if (status >= 200 && status < 300) return { kind: 'sent', messageId: sidOf(body) };
      const kind = status === 429 || status >= 500 ? 'later' : 'failed';
      return { kind, reason: codeOf(body) ?? `http_${status}` };
    },
  };
}

/** The API's id of the message; null: the answer has none. */
function sidOf(body: string | null): string | null {
  try {
    const { sid } = JSON.parse(body ?? 'null') as { sid?: unknown };
    return typeof sid === 'string' ? sid : null;
  } catch {
    return null;
  }
}

/**
 * The number of the API's error, such as 21211; null: the answer has none. The error's text is not used, because it may
 * contain the phone.
 */
function codeOf(body: string | null): string | null {
  try {
    const { code } = JSON.parse(body ?? 'null') as { code?: unknown };
    return Number.isSafeInteger(code) ? `${code}` : null;
  } catch {
    return null;
  }
}
