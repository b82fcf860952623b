/**
 * The errors of `VentanillaClient`. Neither the message nor the JSON of an error holds the API key or an applicant's
 * data; a `cause` comes from the caller's own code.
 */
import type { Application, Outcome } from './wire.ts';

/** An input of a failed call, and what became of it. */
export interface KnownInput {
  /** The input's index among all inputs, from 0. */
  index: number;
  input: Application;
  /**
   * The outcome, where the batch was answered. `not_registered`: this call certainly did not register the input.
   * `unknown`: the input was sent and no answer came, so it may be registered. The same call with the same
   * `submissionId` finds out, and registers nobody twice.
   */
  known: Outcome | { kind: 'not_registered' } | { kind: 'unknown' };
}

const KNOWN = new WeakMap<VentanillaError, readonly KnownInput[]>();

/** Every error of this package, except those about wrong arguments (`TypeError`, `RangeError`). */
export class VentanillaError extends Error {
  override readonly name: string = 'VentanillaError';
  /**
   * The service's word for what was wrong with the request, such as `unauthorized` or `empty_batch`. null: no answer
   * has one. A newer service may have further words.
   */
  readonly code: string | null;

  constructor(message: string, { code = null, ...options }: ErrorOptions & { code?: string | null } = {}) {
    super(message, options);
    this.code = code;
  }

  /**
   * The inputs that were read, in input order: all of them after `submit`, those not yet yielded after `stream`, none
   * after other calls. Other inputs were not read. JSON and logs of the error leave this list out.
   */
  get known(): readonly KnownInput[] {
    return KNOWN.get(this) ?? [];
  }
}

/** The API key is wrong, revoked, or not for this environment (401). */
export class AuthenticationError extends VentanillaError {
  override readonly name = 'AuthenticationError';
}

/** The service refused the request, which is not retried (400, 404, 405, 413 and other 4xx). */
export class RequestRefusedError extends VentanillaError {
  override readonly name: string = 'RequestRefusedError';
  /** The HTTP status. */
  readonly status: number;
  constructor(message: string, status: number, code: string | null = null) {
    super(message, { code });
    this.status = status;
  }
}

/**
 * The events after the cursor are no longer kept (410), so some are lost to `VentanillaClient.events`. Begin again
 * without `after`, and ask for the state of the applications that you care about.
 */
export class CursorExpiredError extends RequestRefusedError {
  override readonly name = 'CursorExpiredError';
}

/** The service, or a proxy before it, still answered 5xx (or 408, 429) after all retries. */
export class ServiceUnavailableError extends VentanillaError {
  override readonly name = 'ServiceUnavailableError';
  /** The last HTTP status. */
  readonly status: number;
  constructor(message: string, status: number, code: string | null = null) {
    super(message, { code });
    this.status = status;
  }
}

/** No answer came, even after all retries: no connection, a lost connection, or a timeout. */
export class NetworkError extends VentanillaError {
  override readonly name = 'NetworkError';
}

/** The answer is not as the contract says: another server at this URL, or a newer service. */
export class ResponseError extends VentanillaError {
  override readonly name = 'ResponseError';
}

/** The inputs failed: their iterable threw (`cause`), or one of them cannot be sent. */
export class InputError extends VentanillaError {
  override readonly name = 'InputError';
}

/** The caller's signal was aborted; `cause` is its reason. The name is the platform's. */
export class AbortedError extends VentanillaError {
  override readonly name = 'AbortError';
  constructor(reason: unknown) {
    super('the call was aborted', { cause: reason });
  }
}

/**
 * Why a request is not a push of the service: a header is missing (`header_missing`) or unreadable
 * (`header_malformed`); the timestamp is too far from now (`too_old`, `too_new`); no signature fits
 * (`signature_mismatch`); or a signature fits, but the body is no event (`not_an_event`).
 */
export type WebhookFault =
  | 'header_missing'
  | 'header_malformed'
  | 'too_old'
  | 'too_new'
  | 'signature_mismatch'
  | 'not_an_event';

/** `verifyWebhook` refused a request. Answer it with 400, and do nothing else with it. */
export class WebhookError extends VentanillaError {
  override readonly name = 'WebhookError';
  readonly fault: WebhookFault;
  constructor(fault: WebhookFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Attaches the inputs and what became of them to an error. */
export function attachKnown(error: VentanillaError, known: readonly KnownInput[]): void {
  KNOWN.set(error, known);
}
