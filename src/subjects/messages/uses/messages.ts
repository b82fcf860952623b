/**
 * What operators see about messages and do with them: list, count, show, retry, cancel, resume (docs/messages.md).
 * Reads and writes the tables of messages through `sql`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import {
  cancelMessages as cancelStored,
  retryMessages as retryStored,
} from '../sql/changes/message-changes.ts';
import { countMessages as countStored } from '../sql/message-counts.ts';
import { type MessageFilter, readMessages } from '../sql/message-walk.ts';
import { readMessagesOf, readPauses, type StoredMessage } from '../sql/messages.ts';
import { resumeSender, resumeTemplate } from '../sql/pauses.ts';
import { readReplyBacklog } from '../sql/replies/backlog.ts';
import { readBreak } from '../sql/sender-health.ts';
import { countLater, MOST_LATER } from '../sql/waiting-hours.ts';

export type { MessageFilter, StoredMessage };
export { MOST_LATER };

/** The messages that fit every part of the filter, newest application first, in bounded memory. */
export function listMessages(
  { database }: OperatorContext,
  filter: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  return readMessages(database, filter);
}

/**
 * How many messages have each status, how many queued ones wait for a later time, what is paused, since when the
 * channel fails (null: it works), and the replies that wait.
 */
export async function countMessages({ database }: OperatorContext) {
  return {
    counts: await countStored(database),
    later: await countLater(database),
    pauses: await readPauses(database),
    broken: await readBreak(database),
    replies: await readReplyBacklog(database),
  };
}

/** The messages of an application, the latest first. Throws `OperatorError` if the application has none. */
export async function showMessages(
  { database }: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage[]> {
  const messages = await readMessagesOf(database, applicationId);
  if (messages.length === 0) throw new OperatorError(`application ${applicationId} has no message`);
  return messages;
}

/**
 * Queues again those messages of an application that failed, or that are uncertain and were not settled by the channel
 * in time. Returns these messages. Throws `OperatorError` if there is none.
 */
export async function retryMessages(
  context: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage[]> {
  const changed = await retryStored(context.database, applicationId);
  return changed.length > 0 ? changed : refuse(context, applicationId, 'sent again');
}

/**
 * Cancels those messages of an application that wait, and settles the uncertain ones as cancelled. Returns these
 * messages. Throws `OperatorError` if there is none.
 */
export async function cancelMessages(
  context: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage[]> {
  const changed = await cancelStored(context.database, applicationId);
  return changed.length > 0 ? changed : refuse(context, applicationId, 'cancelled');
}

async function refuse(context: OperatorContext, applicationId: ApplicationId, deed: string): Promise<never> {
  const messages = await showMessages(context, applicationId);
  const [{ status, dueAt }] = messages as [StoredMessage];
  if (messages.length === 1) {
    throw new OperatorError(
      `the message of application ${applicationId} is ${status}: it cannot be ${deed}${notBefore(status, dueAt, ' before')}`,
    );
  }
  const statuses = messages.map(
    ({ type, status, dueAt }) => `"${type}" is ${status}${notBefore(status, dueAt, ' until')}`,
  );
  throw new OperatorError(
    `no message of application ${applicationId} can be ${deed}: ${statuses.toReversed().join(', ')}`,
  );
}

/** The text that says from when on an operator may settle an uncertain message. */
function notBefore(status: MessageStatus, dueAt: Date | null, word: string): string {
  return status === 'uncertain' && dueAt !== null ? `${word} ${dueAt.toISOString()}` : '';
}

/**
 * Lets the messages of a template, or of the whole sender (null), go out again. For the sender this also ends a break
 * of the channel. Throws `OperatorError`.
 */
export async function resumeMessages({ database }: OperatorContext, template: string | null): Promise<void> {
  const resumed = await (template === null ? resumeSender(database) : resumeTemplate(database, template));
  if (!resumed)
    throw new OperatorError(`${template === null ? 'the sender' : `template ${template}`} is not paused`);
}
