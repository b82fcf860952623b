/** Messages of one application as a text for people and as JSON for programs. */
import { optionalTime, withOffset } from '../../../ground/base/time.ts';
import { recordOf, shortTime } from '../../../program/cli/output.ts';
import type { StoredMessage } from '../uses/messages.ts';

export function messagesText(messages: readonly StoredMessage[]): string {
  return messages.map(messageText).join('\n');
}

function messageText(message: StoredMessage): string {
  const { applicationId, type, status, attempts, reason } = message;
  return `${recordOf([
    ['Application', applicationId],
    ['Type', type],
    ['Status', status],
    ['Attempts', attempts],
    ['Reason', reason],
    ['Until', shortTime(message.dueAt)],
    ['Created', shortTime(message.createdAt)],
    ['Changed', shortTime(message.changedAt)],
  ])}\n`;
}

export function messageJson(message: StoredMessage) {
  const { applicationId, type, status, attempts, reason, dueAt } = message;
  return {
    application_id: applicationId,
    type,
    status,
    attempts,
    reason,
    until: optionalTime(dueAt),
    created_at: withOffset(message.createdAt),
    changed_at: withOffset(message.changedAt),
  };
}
