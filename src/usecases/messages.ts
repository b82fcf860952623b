/** What operators see of messages and do with them. */

import { resumeSender, resumeTemplate } from '../delivery/sql/pauses.ts';
import { readBreak } from '../delivery/sql/sender-health.ts';
import type { ApplicationId } from '../domain/application/ids.ts';
import { cancelMessage as cancelStored, retryMessage as retryStored } from '../storage/message-changes.ts';
import { countMessages as countStored } from '../storage/message-counts.ts';
import {
  type MessageFilter,
  type Pause,
  readMessages,
  readPauses,
  type StoredMessage,
} from '../storage/messages.ts';
import { type OperatorContext, OperatorError } from './operator-context.ts';

export type { MessageFilter, Pause, StoredMessage };

/** The messages that fit every part of the filter, newest application first; memory is bounded. */
export function listMessages(
  { database }: OperatorContext,
  filter: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  return readMessages(database, filter);
}

/** How many messages have each status, what is paused, and since when the channel fails (null while it works). */
export async function countMessages({ database }: OperatorContext) {
  return {
    counts: await countStored(database),
    pauses: await readPauses(database),
    broken: await readBreak(database),
  };
}

/** The message of an application. Throws `OperatorError` if the application has none. */
export async function showMessage(
  context: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage> {
  for await (const message of readMessages(context.database, { applicationId })) return message;
  throw new OperatorError(`application ${applicationId} has no message`);
}

/**
 * Queues a failed message again, or an uncertain one that the channel did not settle in time. Throws `OperatorError`
 * if the message has another status.
 */
export async function retryMessage(
  context: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage> {
  return (await retryStored(context.database, applicationId)) ?? refuse(context, applicationId, 'sent again');
}

/** Cancels a message that waits, or settles an uncertain one as cancelled. Throws `OperatorError`. */
export async function cancelMessage(
  context: OperatorContext,
  applicationId: ApplicationId,
): Promise<StoredMessage> {
  return (await cancelStored(context.database, applicationId)) ?? refuse(context, applicationId, 'cancelled');
}

async function refuse(context: OperatorContext, applicationId: ApplicationId, deed: string): Promise<never> {
  const { status, dueAt } = await showMessage(context, applicationId);
  const when = status === 'uncertain' && dueAt !== null ? ` before ${dueAt.toISOString()}` : '';
  throw new OperatorError(
    `the message of application ${applicationId} is ${status}: it cannot be ${deed}${when}`,
  );
}

/**
 * Lets the messages of a template, or of the whole sender (null), go out again; the sender's also during a break of
 * the channel. Throws `OperatorError`.
 */
export async function resumeMessages({ database }: OperatorContext, template: string | null): Promise<void> {
  const resumed = await (template === null ? resumeSender(database) : resumeTemplate(database, template));
  if (!resumed)
    throw new OperatorError(`${template === null ? 'the sender' : `template ${template}`} is not paused`);
}
