/** Messages of one application as a text for people and as JSON for programs. */
import { optionalTime, withOffset } from '../domain/time.ts';
import type { StoredMessage } from '../usecases/messages.ts';
import { recordOf, shortTime } from './output.ts';

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
