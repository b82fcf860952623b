/**
 * Why a push failed, and why an endpoint is disabled: short codes, never a text of the endpoint and never its address.
 */

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
  /** A look-up without an answer. The codes of the name servers could be those of a connection. */
  | 'name_servers';

/** The code of a failed connection, of the system, of TLS or of Node, such as ECONNREFUSED. */
type ConnectionCode = Uppercase<string>;

/** Every failure of a push; `status_` with the status of an answer that is not 2xx. */
export type PushFailure = OwnFailure | ConnectionCode | `status_${number}`;

/**
 * Why nothing is pushed to an endpoint: an operator disabled it, it answered 410, or no push succeeded for three days.
 * A test compares the statements with this list.
 */
export const DISABLED_REASONS = ['operator', 'gone', 'no_success'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
