/** Tells a conversation what an operator did. */
import { toApplicationId } from '../../applications/rules/ids.ts';
import type { OperatorContext } from '../../operations/operator-context.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { addInputs, type InputContent } from '../sql/inputs.ts';
import { signingOf } from './neighbours.ts';
import { takeTurns } from './turns.ts';

/** Stores an input of the operator, and takes the turn of it, in the transaction of the act. */
export async function tell(
  context: OperatorContext,
  row: ConversationRow,
  content: InputContent,
): Promise<void> {
  const { database, vault } = context;
  const about = { conversationId: row.id, applicationId: toApplicationId(row.application_id) };
  await addInputs(database, vault, 'operator', [
    { ...about, messageIndex: null, workId: null, at: null, content },
  ]);
  const turns = { database, vault, signing: signingOf(vault), flows: new Map() };
  // An operator speaks at this moment, so a reminder that is due is none.
  await takeTurns({ ...turns, mayRemind: () => false, onFault: () => {} }, [row.id]);
}
