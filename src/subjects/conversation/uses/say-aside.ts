/**
 * Sends an operator's text to the person in the middle of a conversation that the service holds (docs/operators.md,
 * "Pended applications"). Hands the conversation over and gives it back around the text.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { type ConversationRow, conversationOf, lockConversation } from '../sql/conversations.ts';
import { whyUnsayable } from './may-say.ts';
import { actOn, type SpeakingContext, sayTo } from './operate.ts';

export type { SpeakingContext };

/**
 * Sends a text to the person of an application, in the caller's transaction. A conversation that the service holds is
 * handed over for the text and then given back, so the open question is asked again below the text. Returns false if
 * the text cannot be sent: there is no open conversation, the phone is suppressed, or the channel's window is closed.
 * Throws `OperatorError` if the conversation cannot be handed over now.
 */
export async function sayAside(context: SpeakingContext, id: ApplicationId, text: string): Promise<boolean> {
  const found = await conversationOf(context.database, id);
  if (found === null) return false;
  return inTransaction(context.database, async (session) => {
    const row = await lockConversation(session, found.id);
    if (row === null || !(await canSay(session, row))) return false;
    if (row.heldBy === 'operator') {
      await sayTo(context, id, text);
      return true;
    }
    // What the person wrote before is taken first, and may end the conversation.
    const held = await actOn(context, id, 'hand_over');
    if (held.heldBy !== 'operator')
      throw new OperatorError(`the conversation of application ${id} cannot be handed over now`);
    const isOpen = await canSay(session, held);
    if (isOpen) await sayTo(context, id, text);
    await actOn(context, id, 'give_back');
    return isOpen;
  });
}

/** Whether a text of an operator can go to the person now, as `sayAside` sends it. */
export async function canSay(session: Session, row: ConversationRow): Promise<boolean> {
  return !isEnd(row.place) && (await whyUnsayable(session, row)) === null;
}
