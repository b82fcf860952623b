/** What an operator sees of the outbox. */
import { type MessageFilter, readMessages, type StoredMessage } from '../storage/messages.ts';
import type { OperatorContext } from './operator-context.ts';

export type { MessageFilter, StoredMessage };

/** The messages that fit every part of the filter, newest application first; memory is bounded. */
export function listMessages(
  { database }: OperatorContext,
  filter: MessageFilter,
): AsyncGenerator<StoredMessage, void, undefined> {
  return readMessages(database, filter);
}
