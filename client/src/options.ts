/** What callers set, and what their hooks are told. */
import type { VentanillaError } from './errors.ts';
import type { Application, Outcome } from './wire.ts';

/** What the client asks of `fetch`; the platform's does it. */
export interface FetchRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
  redirect: 'manual';
  cache: 'no-store';
  signal: AbortSignal;
}

/** What the client reads of an answer. */
export interface FetchResponse {
  readonly status: number;
  readonly type: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** Resolves with an answer, whatever its status; rejects where there is none. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** Where a client sends, as whom, and how patiently. */
export interface ClientOptions {
  /** The environment's whole URL, such as `https://host/PRO` or `https://host/DEV`. */
  url: string;
  /** Sent as `X-API-Key`, and shown nowhere. */
  apiKey: string;
  /**
   * Allows an `http://` URL of a host that is not this machine: everybody on the way can then read the API key and the
   * applicants. Default false.
   */
  insecureHttp?: boolean;
  /** Default: the platform's. */
  fetch?: Fetch;
  /** Batches under way at once; default 4. With 1, batches are registered in input order. */
  concurrency?: number;
  /** Attempts after the first one; default 6, which is about half a minute. */
  retries?: number;
  /** Milliseconds that one attempt may take, answer included; default 15,000. */
  timeoutMs?: number;
}

/** A failed attempt that will be repeated. */
export interface Retry {
  /** Which attempt failed, from 1. */
  attempt: number;
  /** Milliseconds until the next one. */
  delayMs: number;
  error: VentanillaError;
}

/** How far a call is: inputs whose outcome is known, and what they came to. */
export interface Progress {
  done: number;
  registered: number;
  duplicates: number;
  invalid: number;
  quotaExceeded: number;
}

/** How a list is submitted. A hook that throws ends the call with what it threw. */
export interface SubmitOptions {
  /**
   * A stable name of this list of applications, of your own: a second call with the same name, the same
   * list, the same API key and the same version of this package, within 24 hours, gets the first call's
   * answers where there were any, and registers nobody twice. Default: a random UUID, which protects only
   * within the call.
   */
  submissionId?: string;
  /** Ends the call with an `AbortedError`. What was sent by then may still be registered. */
  signal?: AbortSignal;
  /** Called after every batch. */
  onProgress?: (progress: Progress) => void;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}

/** How one batch is submitted. */
export interface BatchOptions {
  /** 1 to 255 printable ASCII characters; the same key with the same applications registers nobody twice. */
  idempotencyKey: string;
  /** Ends the call with an `AbortedError`. What was sent by then may still be registered. */
  signal?: AbortSignal;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}

/** An input, its place among the inputs (from 0), and what became of it. */
export interface IndexedOutcome {
  index: number;
  input: Application;
  outcome: Outcome;
}
