/** The inputs that wait for turns, opened. */
import { UnknownDataKeyError } from '../../base/unknown-data-key.ts';
import type { Session } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { ConversationId, ConversationRow } from '../sql/conversations.ts';
import { type InputRow, openInput, waitingInputs } from '../sql/inputs.ts';
import type { OpenedInput } from './turn-result.ts';

/** What waits for one conversation, in its order. */
export interface Waiting {
  readonly opened: OpenedInput[];
  readonly damaged: { readonly row: InputRow; readonly error: unknown }[];
}

/**
 * The inputs that wait for these conversations. From the first one on whose data key another process has, the inputs of
 * a conversation are left to that process: none of them may go before it.
 */
export async function openWaiting(
  vault: Vault,
  session: Session,
  rows: readonly Pick<ConversationRow, 'id'>[],
): Promise<Map<ConversationId, Waiting>> {
  const byConversation = new Map<ConversationId, Waiting>();
  const left = new Set<ConversationId>();
  const ids = rows.map(({ id }) => id);
  for (const row of await waitingInputs(session, ids)) {
    if (left.has(row.conversation_id)) continue;
    const waiting = byConversation.get(row.conversation_id) ?? { opened: [], damaged: [] };
    byConversation.set(row.conversation_id, waiting);
    try {
      waiting.opened.push({ row, content: openInput(vault, row) });
    } catch (error) {
      if (error instanceof UnknownDataKeyError) left.add(row.conversation_id);
      else waiting.damaged.push({ row, error });
    }
  }
  return byConversation;
}
