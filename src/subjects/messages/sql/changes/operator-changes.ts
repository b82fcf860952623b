/** What operators may do with messages, and in which statuses: the parts of the statements that do it. */
import type { MessageStatus } from '../../../../domain/message/notify.ts';

/** The changes that operators may make to messages, and the statuses that each change applies to. */
export const CHANGEABLE_STATUSES = {
  retry: ['failed', 'uncertain'],
  cancel: ['queued', 'uncertain'],
} as const satisfies Readonly<Record<string, readonly MessageStatus[]>>;
export type MessageChange = keyof typeof CHANGEABLE_STATUSES;
export type ChangeableStatus = (typeof CHANGEABLE_STATUSES)[MessageChange][number];

/** An operator may change an uncertain message once the channel is no longer expected to settle it. */
export const IS_READY = "(status <> 'uncertain' OR due_at <= now())";

/** What each change sets in `message_records`. */
export const CHANGE: Readonly<Record<MessageChange, string>> = {
  retry: "status = 'queued', reason = 'operator', tries = 0, due_at = now(), changed_at = now()",
  cancel: "status = 'cancelled', reason = 'operator', due_at = NULL, changed_at = now()",
};
