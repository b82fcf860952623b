/** The options that callers set, and the arguments that their hooks get. */
import type { Clock } from './clock.ts';
import type { VentanillaError } from './errors.ts';
import type { EventType } from './events.ts';
import type { Application, Outcome, QuotaLeft } from './wire.ts';

/** The request that the client passes to `fetch`. */
export interface FetchRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
  redirect: 'manual';
  cache: 'no-store';
  signal: AbortSignal;
}

/** The parts of an answer that the client reads. */
export interface FetchResponse {
  readonly status: number;
  readonly type: string;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ByteReader } | null;
}

/** Gives the bytes of a body piece by piece. The client leaves a body that it does not read to its end. */
export interface ByteReader {
  read(): Promise<{ readonly done?: boolean | undefined; readonly value?: Uint8Array | undefined }>;
}

/** Resolves with an answer of any status; rejects where no answer comes. The platform's `fetch` fits. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** Where a client sends, with which key, and how patiently. */
export interface ClientOptions {
  /** The environment's whole URL, such as `https://host/PRO` or `https://host/DEV`. */
  url: string;
  /** Goes into the header `X-API-Key`, and is shown nowhere. */
  apiKey: string;
  /**
   * Allows an `http://` URL of a host that is not this machine. Everybody on the way can then read the API key and the
   * applicants. Default false.
   */
  insecureHttp?: boolean;
  /** Default: the platform's `fetch`. */
  fetch?: Fetch;
  /** How many batches are under way at once; default 4. With 1, batches are registered in input order. */
  concurrency?: number;
  /** Attempts after the first one; default 6, which takes about half a minute. */
  retries?: number;
  /** The most milliseconds of one attempt, including the answer; default 15,000. */
  timeoutMs?: number;
  /** For tests: the time by which the client waits and gives up. Default: the machine's. */
  clock?: Clock;
}

/** A failed attempt that will be repeated. */
export interface Retry {
  /** Number of the failed attempt, from 1. */
  attempt: number;
  /** Milliseconds until the next attempt. */
  delayMs: number;
  error: VentanillaError;
}

/** The progress of a call: how many inputs have an outcome, and which. */
export interface Progress {
  done: number;
  registered: number;
  duplicates: number;
  invalid: number;
  quotaExceeded: number;
}

/** Options for submitting a list. A hook that throws ends the call with its error. */
export interface SubmitOptions {
  /**
   * A stable name that you give this list of applications. A second call within 24 hours, with the same name, list, API
   * key and version of this package, gets the first call's answers where there were any, and registers nobody twice.
   * Default: a random UUID, which protects only within the call.
   */
  submissionId?: string;
  /** Ends the call with an `AbortedError`. Applications that were sent before may still be registered. */
  signal?: AbortSignal;
  /** Called after every batch. */
  onProgress?: (progress: Progress) => void;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
  /** Called where an answer tells what is left of the key's daily cap. Answers overtake each other. */
  onQuota?: (left: QuotaLeft) => void;
}

/** Options for submitting one batch. */
export interface BatchOptions {
  /** 1 to 255 printable ASCII characters; the same key with the same applications registers nobody twice. */
  idempotencyKey: string;
  /** Ends the call with an `AbortedError`. Applications that were sent before may still be registered. */
  signal?: AbortSignal;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
  /** Called where an answer tells what is left of the key's daily cap. */
  onQuota?: (left: QuotaLeft) => void;
}

/** An input, its index among all inputs (from 0), and its outcome. */
export interface IndexedOutcome {
  index: number;
  input: Application;
  outcome: Outcome;
}

/** Options for reading the partner's events. */
export interface EventsOptions {
  /**
   * The `id` of the last event that you processed; the events after it follow. Default, also for null: begins with the
   * oldest event that the service keeps.
   */
  after?: string | null | undefined;
  /**
   * Only events of these types. Default: those of applications and messages, and none of conversations. Keep to one set
   * of types for a cursor.
   */
  types?: readonly EventType[];
  /** True: after the newest event waits for more, and never ends by itself. Default false: ends there. */
  follow?: boolean;
  /** With `follow`: milliseconds between two requests while there is nothing new; default 10,000. */
  pollMs?: number;
  /** How many events one request fetches, which is how many are held in memory: 1 to 500, default 100. */
  pageSize?: number;
  /** Ends the loop with an `AbortedError`, also while it waits. */
  signal?: AbortSignal;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}

/** Which applications a search asks for: those of a day, or those with an ID number. */
export type ApplicationSearch =
  | {
      /** The day of the registration in UTC, as `2026-11-22`. */
      day: string;
      idNumber?: undefined;
    }
  | {
      /** In any spelling: the service compares letters and digits alone. */
      idNumber: string;
      day?: undefined;
    };

/** Options for a search of the partner's applications. */
export interface SearchOptions {
  /** How many applications one request asks for, which is how many are held in memory: 1 to 100, default 100. */
  pageSize?: number;
  /** Called with the id of an application whose stored data is damaged, which does not come: tell the operator. */
  onUnreadable?: (id: number) => void;
  /** Ends the loop with an `AbortedError`. */
  signal?: AbortSignal;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}

/** Options for one question to the service. */
export interface CallOptions {
  /** Ends the call with an `AbortedError`. */
  signal?: AbortSignal;
  /** Called before every wait for another attempt. */
  onRetry?: (retry: Retry) => void;
}
