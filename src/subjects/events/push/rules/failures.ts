/**
 * The codes of failed pushes and of disabled endpoints, and when a failed push is tried again (D41; docs/events.md,
 * "Push"). Pure. A code is short, and never a text or the address of the endpoint.
 */

// When a failed push is tried again (D41).

/** The waits after the first, the second and each later failure, before the jitter. The last wait repeats. */
const WAITS_MS = [5_000, 30_000, 120_000, 300_000, 900_000] as const;
/** Spreads pushes that failed together. */
const JITTER = 0.2;

/** How long a push waits after its attempt of this number (from 1). `random` is from 0 to 1. */
export function waitAfter(attempt: number, random: number): number {
  const wait = WAITS_MS[Math.min(attempt, WAITS_MS.length) - 1] ?? WAITS_MS[0];
  return Math.round(wait * (1 + JITTER * (2 * random - 1)));
}

/** The codes of the service itself. The rest of `PushFailure` are codes of others. */
export type OwnFailure =
  /** No answer in time. */
  | 'timeout'
  /** This process cut the push off. Such a push is not recorded. */
  | 'aborted'
  /** The host has an address that is not public. */
  | 'private_address'
  /** The URL has no https, and no exception. */
  | 'not_https'
  | 'connection_closed'
  | 'interim_answers'
  /** A failed connection without a code. */
  | 'no_connection'
  /** A look-up without an answer. The codes of name servers are not used, because connections have the same codes. */
  | 'name_servers';

/** The code of a failed connection, of the system, of TLS or of Node, such as ECONNREFUSED. */
type ConnectionCode = Uppercase<string>;

/** Every failure of a push; `status_` with the status of an answer that is not 2xx. */
export type PushFailure = OwnFailure | ConnectionCode | `status_${number}`;

/**
 * Why an endpoint gets no pushes: an operator disabled it, it answered 410, or no push succeeded for three days. A test
 * compares the statements with this list.
 */
export const DISABLED_REASONS = ['operator', 'gone', 'no_success'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/**
 * What became of an attempt. `delivered`, `failed` and `gone` (the endpoint said that it is gone for good) are about
 * the endpoint. `unsent`: the push could not go out because of our own data. `forgotten`: the event was deleted for its
 * age.
 */
export const PUSH_RESULTS = ['delivered', 'failed', 'gone', 'unsent', 'forgotten'] as const;
export type PushAttemptResult = (typeof PUSH_RESULTS)[number];
