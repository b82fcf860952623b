/**
 * What `VentanillaClient` rejects with. Neither a message nor the JSON of an error holds the API key or an
 * applicant's data; a `cause` is the caller's own.
 */
import type { Application, Outcome } from './wire.ts';

/** What a call that failed knows of one of its inputs. */
export interface KnownInput {
  /** Its place among the inputs, from 0. */
  index: number;
  input: Application;
  /**
   * Its outcome, where its batch was answered. `not_registered`: this call certainly did not register it.
   * `unknown`: it was sent and no answer came, so it may be registered; the same call with the same
   * `submissionId` tells, and registers nobody twice.
   */
  known: Outcome | { kind: 'not_registered' } | { kind: 'unknown' };
}

const KNOWN = new WeakMap<VentanillaError, readonly KnownInput[]>();

/** Whatever this package rejects with, but for wrong arguments (`TypeError`, `RangeError`). */
export class VentanillaError extends Error {
  override readonly name: string = 'VentanillaError';

  /**
   * Of `submit`: every input read so far. Of `stream`: those read and not yet yielded. In input order; what is
   * not in it was not read. Empty for other calls. JSON and logs of the error leave it out.
   */
  get known(): readonly KnownInput[] {
    return KNOWN.get(this) ?? [];
  }
}

/** The API key is wrong, revoked, or not for this environment (401). */
export class AuthenticationError extends VentanillaError {
  override readonly name = 'AuthenticationError';
}

/** The request was sent wrongly and not retried (400, 404, 405, 413 and other 4xx). */
export class RequestRefusedError extends VentanillaError {
  override readonly name = 'RequestRefusedError';
  /** The HTTP status. */
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** The service, or something before it, answered 5xx (or 408, 429) to the end of the retries. */
export class ServiceUnavailableError extends VentanillaError {
  override readonly name = 'ServiceUnavailableError';
  /** The last HTTP status. */
  readonly status: number;
  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** No answer came to the end of the retries: no connection, a connection lost, or a timeout. */
export class NetworkError extends VentanillaError {
  override readonly name = 'NetworkError';
}

/** An answer that is not what the contract says: another server at this URL, or a newer service. */
export class ResponseError extends VentanillaError {
  override readonly name = 'ResponseError';
}

/** The inputs failed: their iterable threw (`cause`), or one of them cannot be sent. */
export class InputError extends VentanillaError {
  override readonly name = 'InputError';
}

/** The caller's signal was aborted; `cause` is its reason. Named as the platform names it. */
export class AbortedError extends VentanillaError {
  override readonly name = 'AbortError';
  constructor(reason: unknown) {
    super('the call was aborted', { cause: reason });
  }
}

/** Lets an error carry what is known of the inputs. */
export function attachKnown(error: VentanillaError, known: readonly KnownInput[]): void {
  KNOWN.set(error, known);
}
