/** What an answer of WhatsApp's Cloud API to a send means for the message (docs/messages.md, "Reasons"). Pure. */
import type { SendFailure, SendResult } from '../../../domain/message/channel.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { HttpAnswer, PostResult } from './post-once.ts';
import { type ApiError, failureOfError, MAX_RETRY_AFTER_MS, readApiError } from './whatsapp-errors.ts';

/**
 * A success with a message id is `accepted`. A known error has the consequence of its code. For the rest:
 * - 3xx and 4xx with an unknown code or none are `retry`: the server refused the request, so nothing was sent. The last
 *   try fails with the code or status as its reason.
 * - 503 with Retry-After is `retry`: the server names the time when it will serve again, so it did not serve.
 * - 501, 505 and 511 are `retry`: the server does not support such a request, or a proxy before the server answered
 *   (RFC 9110, RFC 6585).
 * - Any other 5xx is `uncertain`: a gateway also answers 502, 503 and 504 if it lost the server that had the
 *   request, and a 500 may come after the send. Code 1, "invalid request or possible server error", is a refusal with
 *   its documented 400, but not with a 5xx. `is_transient` only says that a repetition may succeed.
 * - A success without a readable id is `uncertain`.
 */
export function resultOf(posted: PostResult, attempt: number): SendResult {
  if (posted.kind === 'unsent') return { kind: 'retry', reason: posted.reason };
  if (posted.kind === 'in_doubt') return { kind: 'uncertain', reason: posted.reason };
  const { status, body } = posted;
  const { messageId, error } = readAnswer(body);
  const success = status >= 200 && status < 300;
  if (success && messageId !== null) return { kind: 'accepted', channelMessageId: messageId };
  const known = error === null ? null : failureOfError(error, attempt);
  const retryAfter = retryAfterMs(posted);
  if (known !== null) return delayed(known, retryAfter);
  const reason: MessageReason = error === null ? `http_${status}` : `${error.code}`;
  if (success || (status >= 500 && !wasNotServed(status, retryAfter))) return { kind: 'uncertain', reason };
  return delayed({ kind: 'retry', reason }, retryAfter);
}

function wasNotServed(status: number, retryAfter: number | null): boolean {
  return status === 501 || status === 505 || status === 511 || (status === 503 && retryAfter !== null);
}

/** Lets a retry wait at least as long as the API asks. */
function delayed(refusal: SendFailure, retryAfter: number | null): SendFailure {
  if ((refusal.kind !== 'retry' && refusal.kind !== 'pause_recipient') || retryAfter === null) return refusal;
  return { ...refusal, afterMs: Math.max(refusal.afterMs ?? 0, retryAfter) };
}

/**
 * The wait that a Retry-After header asks for, in milliseconds. The header holds seconds, or a date by the server's
 * clock, which the Date header tells (D39). Null: the header is absent, unreadable or not in the future.
 */
function retryAfterMs({ retryAfter, date }: HttpAnswer): number | null {
  if (retryAfter === undefined) return null;
  const seconds = /^\d+$/.test(retryAfter);
  const ms = seconds ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.parse(date ?? '');
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null;
}

/** Reads the message id and the error of an answer; null for a part that is absent or malformed. */
function readAnswer(body: string | null): { messageId: string | null; error: ApiError | null } {
  const answer = parseJson(body) as { messages?: { id?: unknown }[]; error?: unknown } | null;
  const id = answer?.messages?.[0]?.id;
  return {
    // Channel events refer to this id.
    messageId: typeof id === 'string' && /^[\x21-\x7e]{1,256}$/.test(id) ? id : null,
    error: readApiError(answer?.error),
  };
}

/** The value of the body; null: the body is not JSON, or did not arrive. */
export function parseJson(body: string | null): unknown {
  try {
    return JSON.parse(body ?? 'null');
  } catch {
    return null;
  }
}
