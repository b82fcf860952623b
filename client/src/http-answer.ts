/** Reads an answer of HTTP: the JSON of a 200 and what its headers tell of the daily cap, or the failure. */
import type { Clock } from './clock.ts';
import {
  AuthenticationError,
  CursorExpiredError,
  RequestRefusedError,
  ResponseError,
  ServiceUnavailableError,
  type VentanillaError,
} from './errors.ts';
import type { FetchResponse } from './options.ts';
import { MAX_ANSWER_BYTES } from './read-text.ts';
import { quote, refusalIn } from './refusal.ts';
import { readRetryAfter } from './retry.ts';
import type { QuotaLeft } from './wire.ts';

const TOO_LONG = `the answer is longer than ${MAX_ANSWER_BYTES} bytes or in too many pieces: is this the URL of the service?`;

/** The JSON of a 200, and what its headers tell of the daily cap. */
interface Success {
  readonly value: unknown;
  readonly left: QuotaLeft | null;
}

/** A failed attempt. */
export interface Failure {
  readonly error: VentanillaError;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
}

export interface HttpAnswer {
  readonly response: FetchResponse;
  /** null where the body was too long to read. */
  readonly text: string | null;
}

/** The JSON of a 200, or the failure. An answer of another status has this status, whatever its body. */
export function parse(
  { response, text }: HttpAnswer,
  { apiKey, clock }: { readonly apiKey: string; readonly clock: Clock },
): Success | Failure {
  const { status } = response;
  if (status === 200) return parseJson(response, text);
  const refusal = refusalIn(text);
  const code = refusal?.code ?? null;
  const said = `${status}${quote(refusal, apiKey)}`;
  if (status === 401)
    return final(new AuthenticationError(`the service refused the API key: ${said}`, { code }));
  if (status >= 500 || status === 408 || status === 429) {
    const error = new ServiceUnavailableError(`the service cannot answer now: ${said}`, status, code);
    return retryable(error, readRetryAfter(response.headers, clock.nowMs()));
  }
  if (status === 410)
    return final(new CursorExpiredError(`events after the cursor are no longer kept: ${said}`, status, code));
  if (status >= 400)
    return final(new RequestRefusedError(`the service refused the request: ${said}`, status, code));
  if (response.type === 'opaqueredirect' || status >= 300) {
    return final(new ResponseError('the URL redirects: give the client the target URL'));
  }
  return final(new ResponseError(`the service answered ${status}, not 200`));
}

/** True where the service itself, and no proxy, answers 404. */
export function isMissing(answer: HttpAnswer | Failure): boolean {
  return 'response' in answer && answer.response.status === 404 && refusalIn(answer.text) !== null;
}

function parseJson({ headers }: FetchResponse, text: string | null): Success | Failure {
  if (text === null) return retryable(new ResponseError(TOO_LONG));
  try {
    return { value: JSON.parse(text), left: readQuotaLeft(headers) };
  } catch {
    // The answer was cut off, or is a page of another server. The Idempotency-Key makes a retry safe.
    return retryable(new ResponseError('the answer is not JSON: is this the URL of the service?'));
  }
}

/** A failure after which another attempt makes sense. */
export function retryable(error: VentanillaError, retryAfterMs: number | null = null): Failure {
  return { error, retryable: true, retryAfterMs };
}

function final(error: VentanillaError): Failure {
  return { error, retryable: false, retryAfterMs: null };
}

/** What the headers tell of the daily cap; null where the key has no cap, and where the service is older. */
function readQuotaLeft(headers: FetchResponse['headers']): QuotaLeft | null {
  const remaining = whole(headers.get('X-Quota-Remaining'));
  return remaining === null ? null : { remaining, resetSeconds: whole(headers.get('X-Quota-Reset')) };
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
