/** Sends one request, with retries. */
import { type Clock, sleep } from './clock.ts';
import { AbortedError, NetworkError } from './errors.ts';
import { type Failure, type HttpAnswer, isMissing, parse, retryable } from './http-answer.ts';
import type { Fetch, Retry } from './options.ts';
import { readText } from './read-text.ts';
import { delayAfter } from './retry.ts';
import type { QuotaLeft } from './wire.ts';

/** Where to send, and how patiently: `ClientOptions` with its defaults. */
export interface Endpoint {
  readonly url: string;
  readonly apiKey: string;
  readonly fetch: Fetch;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

interface Message<T> {
  /** The body of a POST, and the key of a batch; without them the request is a GET. */
  readonly post?: { readonly body: Uint8Array<ArrayBuffer>; readonly idempotencyKey?: string };
  /** Default: the endpoint's. */
  readonly url?: string;
  /** Reads the JSON of a 200; `left` is what its headers tell of the daily cap. Throws `ResponseError`. */
  readonly read: (answer: unknown, left: QuotaLeft | null) => T;
  /** The result where the service, and no proxy, answers 404; without it a 404 is refused as other 4xx are. */
  readonly missing?: T;
}

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  readonly onQuota?: ((left: QuotaLeft) => void) | undefined;
}

/** Resolves to what `read` returns. Throws a `VentanillaError` where no retry is left or a retry makes no sense. */
export async function request<T>(
  endpoint: Endpoint,
  message: Message<T>,
  { signal, onRetry, onQuota }: Patience,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    const answer = await attemptOnce(endpoint, message, signal);
    if (message.missing !== undefined && isMissing(answer)) return message.missing;
    const json = 'error' in answer ? answer : parse(answer, endpoint);
    if ('value' in json) {
      const result = message.read(json.value, json.left);
      if (json.left !== null) onQuota?.(json.left);
      return result;
    }
    const { error, retryable, retryAfterMs } = json;
    if (!retryable || attempt > endpoint.retries) throw error;
    const delayMs = delayAfter(attempt, retryAfterMs, Math.random());
    onRetry?.({ attempt, delayMs, error });
    await sleep(endpoint.clock, delayMs, signal).catch((reason) => {
      throw new AbortedError(reason);
    });
  }
}

/** Makes one attempt, within `timeoutMs`. Throws only `AbortedError`. */
async function attemptOnce(
  endpoint: Endpoint,
  { post, url = endpoint.url }: Message<unknown>,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer | Failure> {
  const { apiKey, fetch, timeoutMs, clock } = endpoint;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  let late = false;
  const timer = clock.after(timeoutMs, () => {
    late = true;
    controller.abort();
  });
  // A `fetch` that the caller brings may not heed the signal.
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  });
  aborted.catch(() => {});
  const exchange = async (): Promise<HttpAnswer> => {
    const response = await fetch(url, {
      method: post === undefined ? 'GET' : 'POST',
      headers: {
        'X-API-Key': apiKey,
        'Accept-Language': 'en',
        // Errors with codes, and headers about the daily cap.
        Accept: 'application/json; profile=codes',
        ...(post && { 'Content-Type': 'application/json' }),
        ...(post?.idempotencyKey !== undefined && { 'Idempotency-Key': post.idempotencyKey }),
      },
      body: post?.body ?? null,
      // Following a redirect would turn POST into GET and give the key to another server.
      redirect: 'manual',
      cache: 'no-store',
      signal: controller.signal,
    });
    return { response, text: await readText(response.body) };
  };
  try {
    const answer = await Promise.race([exchange(), aborted]);
    // Without the abort the rest of the answer would go on arriving.
    if (answer.text === null) controller.abort();
    return answer;
  } catch (error) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    const reason = late ? `no answer within ${timeoutMs} ms` : `no answer${codeOf(error)}`;
    return retryable(new NetworkError(reason));
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  }
}

/** The code of an error. Its text is left out, because it may quote what was sent. */
function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null };
  const name = [code, cause?.code].find(
    (value) => typeof value === 'string' && /^[A-Z][A-Z0-9_]+$/.test(value),
  );
  return name === undefined ? '' : ` (${name})`;
}
