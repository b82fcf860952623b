/**
 * One POST over kept connections that, where it fails, knows whether the request may have arrived. This is why
 * it is made of node:http: fetch fails alike where no connection could be made and where one died under a
 * request that was written, and only the first may be repeated.
 */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';

export interface PostLimits {
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** An idle connection is closed after so long, before the other side does: a request may not meet its close. */
  readonly idleMs: number;
}

export interface HttpAnswer {
  readonly kind: 'answered';
  readonly status: number;
  /** The headers Retry-After and Date. */
  readonly retryAfter: string | undefined;
  readonly date: string | undefined;
  /** null where it was too long or did not arrive whole within the limits. */
  readonly body: string | null;
}

/** What became of one POST; what that means for the message is the channel's to say. */
export type PostResult =
  | HttpAnswer
  /** No byte of the request left: it can be repeated. */
  | { kind: 'unsent'; reason: string }
  /** The request was written, wholly or in part, and nothing tells what became of it. */
  | { kind: 'in_doubt'; reason: string };

type PostOnce = (body: string, signal: AbortSignal) => Promise<PostResult>;

/**
 * A function that posts to this address, each call once. It never throws, follows no redirect and settles
 * within the limits, or at once when the signal aborts. Throws here where a header cannot be sent.
 */
export function postOnce(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, maxAnswerBytes, idleMs }: PostLimits,
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
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(result);
      };
      const fail = (reason: string) => {
        if (answer !== null) settle(answered(answer, null));
        else settle({ kind: written ? 'in_doubt' : 'unsent', reason });
        request.destroy();
      };
      const abort = () => fail('aborted');
      const timer = setTimeout(() => fail('timeout'), timeoutMs);
      signal.addEventListener('abort', abort, { once: true });
      request.on('socket', (socket) => {
        // What is written to a socket that is not connected yet stays here.
        if (!socket.connecting) written = true;
        else {
          socket.once(ready, () => {
            written = true;
          });
        }
      });
      request.on('error', (error) => fail(written ? 'connection_lost' : codeOf(error)));
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

/** Null where the text is longer, or its end did not come. */
async function readText(response: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      // Leaving the loop closes the connection: the rest is not read.
      if (length > maxBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The system's or the library's code, such as ECONNREFUSED: never the message, which may hold anything. */
function codeOf(error: NodeJS.ErrnoException): string {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(error.code ?? '') ? (error.code as string) : 'no_connection';
}
