/**
 * One GET, whose answer is read up to a limit while it comes. Follows no redirect: another host must not get the
 * headers.
 */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Clock } from '../../../ground/base/clock.ts';

/** How a GET is sent, and its limits. */
interface GetOptions {
  readonly clock: Clock;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The most bytes of the answer's body that are held. */
  readonly maxBytes: number;
}

/** What became of one GET. */
export type GetResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly contentType: string | null;
      readonly body: Buffer;
    }
  /** The body is longer than the limit; the rest is not read. */
  | { readonly kind: 'too_large'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: MessageReason };

/** Interim answers (100 to 199) before an answer. A flood of them would keep the event loop from all other work. */
const MAX_INTERIM_ANSWERS = 10;

/** Gets the address. Never throws; resolves within the limits, or at once where the signal aborts. */
export function getOnce(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { clock, timeoutMs, maxBytes }: GetOptions,
  signal: AbortSignal,
): Promise<GetResult> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: 'failed', reason: 'aborted' });
    const open = url.protocol === 'https:' ? https.request : http.request;
    // The body is wanted as it is: a packed one could grow beyond every limit.
    const request = open(url, { agent: false, headers: { ...headers, 'Accept-Encoding': 'identity' } });
    const settle = (result: GetResult) => {
      timer.cancel();
      signal.removeEventListener('abort', abort);
      resolve(result);
      request.destroy();
    };
    const fail = (reason: MessageReason) => settle({ kind: 'failed', reason });
    const abort = () => fail('aborted');
    const timer = clock.after(timeoutMs, () => fail('timeout'));
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', () => fail('connection_lost'));
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_ANSWERS) fail('interim_answers');
    });
    request.on('response', async (response) => settle(await readAnswer(response, maxBytes)));
    request.end();
  });
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<GetResult> {
  const { statusCode: status = 0, headers } = response;
  if (Number(headers['content-length']) > maxBytes) return { kind: 'too_large', status };
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      if (length > maxBytes) return { kind: 'too_large', status };
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'failed', reason: 'connection_lost' };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return { kind: 'failed', reason: 'unknown' };
  return {
    kind: 'answered',
    status,
    contentType: headers['content-type'] ?? null,
    body: Buffer.concat(chunks),
  };
}
