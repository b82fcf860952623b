/** Sends one request, with retries. */
import { type Clock, sleep } from './clock.ts';
import {
  AbortedError,
  AuthenticationError,
  CursorExpiredError,
  NetworkError,
  RequestRefusedError,
  ResponseError,
  ServiceUnavailableError,
  type VentanillaError,
} from './errors.ts';
import type { Fetch, FetchResponse, Retry } from './options.ts';
import { MAX_ANSWER_BYTES, readText } from './read-text.ts';
import { quote, refusalIn } from './refusal.ts';
import { delayAfter, readRetryAfter } from './retry.ts';

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
  /** The body and key of a POST; without them the request is a GET. */
  readonly post?: { readonly body: Uint8Array<ArrayBuffer>; readonly idempotencyKey: string };
  /** Default: the endpoint's. */
  readonly url?: string;
  /** Reads the JSON of a 200. Throws `ResponseError`. */
  readonly read: (answer: unknown) => T;
  /** The result where the service, and no proxy, answers 404; without it a 404 is refused as other 4xx are. */
  readonly missing?: T;
}

export interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A failed attempt. */
interface Failure {
  readonly error: VentanillaError;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
}

interface HttpAnswer {
  readonly response: FetchResponse;
  /** null where the body was too long to read. */
  readonly text: string | null;
}

const TOO_LONG = `the answer is longer than ${MAX_ANSWER_BYTES} bytes or in too many pieces: is this the URL of the service?`;

/** Resolves to what `read` returns. Throws a `VentanillaError` where no retry is left or a retry makes no sense. */
export async function request<T>(
  endpoint: Endpoint,
  message: Message<T>,
  { signal, onRetry }: Patience,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    const answer = await attemptOnce(endpoint, message, signal);
    if (message.missing !== undefined && isMissing(answer)) return message.missing;
    const json = 'error' in answer ? answer : parse(answer, endpoint);
    if ('value' in json) return message.read(json.value);
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
        ...(post && { 'Content-Type': 'application/json', 'Idempotency-Key': post.idempotencyKey }),
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

/** The JSON of a 200, or the failure. An answer of another status has this status, whatever its body. */
function parse(
  { response, text }: HttpAnswer,
  { apiKey, clock }: Endpoint,
): { readonly value: unknown } | Failure {
  const { status } = response;
  if (status === 200) return parseJson(text);
  const said = `${status}${quote(text, apiKey)}`;
  if (status === 401) return final(new AuthenticationError(`the service refused the API key: ${said}`));
  if (status >= 500 || status === 408 || status === 429) {
    const error = new ServiceUnavailableError(`the service cannot answer now: ${said}`, status);
    return retryable(error, readRetryAfter(response.headers, clock.nowMs()));
  }
  if (status === 410)
    return final(new CursorExpiredError(`events after the cursor are no longer kept: ${said}`, status));
  if (status >= 400)
    return final(new RequestRefusedError(`the service refused the request: ${said}`, status));
  if (response.type === 'opaqueredirect' || status >= 300) {
    return final(new ResponseError('the URL redirects: give the client the target URL'));
  }
  return final(new ResponseError(`the service answered ${status}, not 200`));
}

/** True where the service itself, and no proxy, answers 404. */
function isMissing(answer: HttpAnswer | Failure): boolean {
  return 'response' in answer && answer.response.status === 404 && refusalIn(answer.text) !== null;
}

function parseJson(text: string | null): { readonly value: unknown } | Failure {
  if (text === null) return retryable(new ResponseError(TOO_LONG));
  try {
    return { value: JSON.parse(text) };
  } catch {
    // The answer was cut off, or is a page of another server. The Idempotency-Key makes a retry safe.
    return retryable(new ResponseError('the answer is not JSON: is this the URL of the service?'));
  }
}

function retryable(error: VentanillaError, retryAfterMs: number | null = null): Failure {
  return { error, retryable: true, retryAfterMs };
}

function final(error: VentanillaError): Failure {
  return { error, retryable: false, retryAfterMs: null };
}
