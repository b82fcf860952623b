/**
 * Why a message waits, failed, is uncertain or was cancelled: a code, never personal data. Pure. docs/messages.md
 * ("Reasons") explains each one. This list is the only one: a test compares the statements and the document with it.
 *
 * The column itself takes any text, on purpose. One refused reason would undo the statement that records the answers of
 * a whole turn, and all messages of the turn would become uncertain.
 */

/** The codes of the service itself, in the document's order. The rest of `MessageReason` are codes of others. */
export const REASONS = [
  'contact_window',
  'pair_limit',
  'rate',
  'daily_recipients',
  'template_paused',
  'sender_paused',
  'operator',
  'replaced',
  'recipient_limit',
  'application_closed',
  'wrong_person',
  'suppressed',
  'window_closed',
  'erased',
  'unknown_key',
  'unreadable',
  'mismatch',
  'unsendable',
  'file_missing',
  'file_damaged',
  'file_store',
  'no_record',
  'timeout',
  'connection_lost',
  'interim_answers',
  'aborted',
  'no_connection',
  'unknown',
  'simulated_failure',
] as const;

/** A code of the service itself. */
export type Reason = (typeof REASONS)[number];

/** The code of a failed connection, of the system or of Node, such as ECONNREFUSED. */
export type ConnectionCode = Uppercase<string>;

/** The status of an answer without an error code. */
type StatusReason = `http_${number}`;

/** The channel's error code, or the code and its subcode with a dot between. */
export type ChannelCode = `${number}` | `${number}.${number}`;

/** Every reason of a message. */
export type MessageReason = Reason | ConnectionCode | StatusReason | ChannelCode;
