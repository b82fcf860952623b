/**
 * Reads and opens the inputs that wait for turns, in their order (docs/conversation.md, "Inputs, turns and replies").
 * Opens sealed rows of `conversation_inputs`, and reads the present reasons of documents.
 */
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { shownFate } from '../rules/files.ts';
import type { ConversationId } from '../sql/conversations.ts';
import { reasonsOf } from '../sql/document-places.ts';
import { type InputRow, openInput } from '../sql/inputs.ts';
import type { ClaimedConversation } from '../sql/turns.ts';
import type { OpenedInput } from './turn-result.ts';

/** The waiting inputs of one conversation, in their order. */
export interface Waiting {
  readonly opened: OpenedInput[];
  readonly damaged: { readonly row: InputRow; readonly error: unknown }[];
}

/**
 * The inputs that wait for these conversations. If this process lacks the data key of an input, that input and all
 * later ones of the conversation are left to another process, because none may overtake it. For a file that was read,
 * the present state of its document counts, because an operator may have decided since. A later decision waits for the
 * turn (`uses/decide-document.ts`).
 */
export async function openWaiting(
  vault: Vault,
  session: Session,
  rows: readonly ClaimedConversation[],
): Promise<Map<ConversationId, Waiting>> {
  const byConversation = new Map<ConversationId, Waiting>();
  const left = new Set<ConversationId>();
  for (const row of rows.flatMap(({ inputs }) => inputs)) {
    if (left.has(row.conversationId)) continue;
    const waiting = byConversation.get(row.conversationId) ?? { opened: [], damaged: [] };
    byConversation.set(row.conversationId, waiting);
    try {
      waiting.opened.push({ row, content: openInput(vault, row) });
    } catch (error) {
      if (error instanceof UnknownDataKeyError) left.add(row.conversationId);
      else waiting.damaged.push({ row, error });
    }
  }
  await withReasons(session, [...byConversation.values()]);
  return byConversation;
}

async function withReasons(session: Session, all: readonly Waiting[]): Promise<void> {
  const indexes = all.flatMap(({ opened }) => opened.flatMap(({ content }) => content.documentIndex ?? []));
  const reasons = await reasonsOf(session, indexes);
  for (const { opened } of all) {
    for (const [at, { row, content }] of opened.entries()) {
      const reason = reasons.get(content.documentIndex ?? '');
      if (content.kind === 'document' && reason !== undefined)
        opened[at] = { row, content: { ...content, fate: shownFate(reason) } };
    }
  }
}
