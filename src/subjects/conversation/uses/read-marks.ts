/** Which message the reply of a turn marks as read, where the turn takes none. */
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { ConversationId } from '../sql/conversations.ts';
import { newestOfPersons, openInput } from '../sql/inputs.ts';
import type { Waiting } from './open-waiting.ts';

/**
 * The channel's ids of the messages that led to the work whose ends wait, by conversation: the reply answers them. A
 * message that cannot be read has none, because a mark is not worth a turn.
 */
export async function answeredMessages(
  vault: Vault,
  session: Session,
  inputs: ReadonlyMap<ConversationId, Waiting>,
): Promise<ReadonlyMap<ConversationId, string>> {
  const ids = [...inputs]
    .filter(([, { opened }]) => opened.length > 0 && opened.every(({ row }) => row.source === 'work'))
    .map(([id]) => id);
  const found = new Map<ConversationId, string>();
  for (const row of await newestOfPersons(session, ids)) {
    try {
      const { channelId = null, isOfOtherPhone = false } = openInput(vault, row);
      if (channelId !== null && !isOfOtherPhone) found.set(row.conversation_id, channelId);
    } catch {
      // As above.
    }
  }
  return found;
}
