/** Tells a conversation what an operator did. */
import { toApplicationId } from '../../../domain/application/ids.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { addInputs, type InputContent } from '../sql/inputs.ts';
import { signingOf } from './neighbours.ts';
import type { TurnResult } from './turn-result.ts';
import { type TakenTogether, takeTurns } from './turns.ts';

/**
 * Stores an input of the operator, and takes the turn of it, in the transaction of the act. Returns the turn; null: it
 * could not be taken.
 */
export async function tell(
  context: OperatorContext,
  row: ConversationRow,
  content: InputContent,
): Promise<TurnResult | null> {
  const { database, vault, clock } = context;
  const about = { conversationId: row.id, applicationId: toApplicationId(row.application_id) };
  await addInputs(database, vault, 'operator', [
    { ...about, messageIndex: null, workId: null, at: null, content },
  ]);
  const turns = { database, vault, clock, signing: signingOf(vault), flows: new Map() };
  let taken: TurnResult | null = null;
  const onTaken = ({ results: [result] }: TakenTogether) => {
    taken = result ?? null;
  };
  // An operator speaks at this moment, so a reminder that is due is none.
  await takeTurns({ ...turns, mayRemind: () => false, onFault: () => {}, onTaken }, [row.id]);
  return taken;
}
