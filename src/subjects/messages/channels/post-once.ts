/**
 * Sends one POST over kept connections, and tells whether a failed request may have arrived, because only a request
 * that surely did not arrive may be repeated. `fetch` cannot tell: it fails in the same way if no connection was made
 * and if the connection died under a written request. So this file uses node:http. docs/messages.md has the rule,
 * "Uncertain messages".
 */

import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ConnectionCode, MessageReason } from '../../../domain/message/reasons.ts';
import type { Clock } from '../../../ground/base/clock.ts';

/** The limits of a POST. */
export interface PostLimits {
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /**
   * After this time idle connections are closed: earlier than the server closes them, so that no request meets that
   * close.
   */
  readonly idleMs: number;
}

/** How a POST is sent. */
interface PostOptions extends PostLimits {
  readonly clock: Clock;
}

/** An answer to a POST, of any status. */
export interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  /** The headers Retry-After and Date. */
  readonly retryAfter: string | undefined;
  readonly date: string | undefined;
  /** null: the body was too long, or did not arrive whole within the limits. */
  readonly body: string | null;
}

/** What became of one POST. The channel decides what that means for the message. */
export type PostResult =
  | HttpAnswer
  /** No byte of the request left, so the request can be repeated. */
  | { kind: 'unsent'; reason: MessageReason }
  /** The request was written, wholly or in part. It is not known whether the server acted on it. */
  | { kind: 'in_doubt'; reason: MessageReason };

/**
 * The most interim answers (100 to 199) before an answer. A flood of them would keep the event loop from all other
 * work.
 */
const MAX_INTERIM_ANSWERS = 10;

type PostOnce = (body: string | Buffer, signal: AbortSignal) => Promise<PostResult>;

/**
 * Makes a function that posts to this address, once for each call. The function never throws, follows no redirect and
 * resolves within the limits, or at once if the signal aborts. `postOnce` itself throws if a header cannot be sent.
 */
export function postOnce(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { clock, timeoutMs, maxAnswerBytes, idleMs }: PostOptions,
): PostOnce {
  for (const [name, value] of Object.entries(headers)) http.validateHeaderValue(name, value);
  const [{ Agent, request: open }, ready] =
    url.protocol === 'https:' ? ([https, 'secureConnect'] as const) : ([http, 'connect'] as const);
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  return (body, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve({ kind: 'unsent', reason: 'aborted' });
      let written = false;
      let answer: IncomingMessage | null = null;
      const request = open(url, {
        method: 'POST',
        agent,
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      });
      const settle = (result: PostResult) => {
        timer.cancel();
        signal.removeEventListener('abort', abort);
        resolve(result);
      };
      const fail = (reason: MessageReason) => {
        if (answer !== null) settle(answered(answer, null));
        else settle({ kind: written ? 'in_doubt' : 'unsent', reason });
        request.destroy();
      };
      const abort = () => fail('aborted');
      const timer = clock.after(timeoutMs, () => fail('timeout'));
      signal.addEventListener('abort', abort, { once: true });
      request.on('socket', (socket) => {
        // While the socket is not connected, the bytes stay in this process.
        if (!socket.connecting) written = true;
        else {
          socket.once(ready, () => {
            written = true;
          });
        }
      });
      request.on('error', (error) => fail(written ? 'connection_lost' : codeOf(error)));
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) fail('interim_answers');
      });
      request.on('response', async (response) => {
        answer = response;
        settle(answered(response, await readText(response, maxAnswerBytes)));
      });
      request.end(body);
    });
}

function answered({ statusCode = 0, headers }: IncomingMessage, body: string | null): PostResult {
  return {
    kind: 'answered',
    status: statusCode,
    retryAfter: headers['retry-after'],
    date: headers.date,
    body,
  };
}

/** The text of the body; null if the text is longer than `maxBytes`, or if its end did not arrive. */
async function readText(response: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      // Leaving the loop closes the connection, so the rest is not read.
      if (length > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The code of the system or of Node, such as ECONNREFUSED. The error's message may hold personal data, so it is never
 * used.
 */
function codeOf(error: NodeJS.ErrnoException): MessageReason {
  const { code = '' } = error;
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? (code as ConnectionCode) : 'no_connection';
}
