/**
 * Tells a conversation what an operator did: stores the input and takes its turn at once, in the transaction of the
 * act. Writes `conversation_inputs` and the results of the turn.
 */
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { addInputs, type InputContent } from '../sql/inputs.ts';
import { signingOf } from './neighbours.ts';
import type { TurnResult } from './turn-result.ts';
import { type TakenTogether, takeTurns } from './turns.ts';

/**
 * Stores an input from the operator, and takes its turn, in the transaction of the act. Returns the turn; null: it
 * could not be taken.
 */
export async function tell(
  context: OperatorContext,
  row: ConversationRow,
  content: InputContent,
): Promise<TurnResult | null> {
  const { database, vault, clock } = context;
  const about = { conversationId: row.id, applicationId: row.applicationId };
  await addInputs(database, vault, 'operator', [
    { ...about, messageIndex: null, workId: null, at: null, content },
  ]);
  const turns = { database, vault, clock, signing: signingOf(vault), flows: new Map(), termsOf: () => null };
  let taken: TurnResult | null = null;
  const onTaken = ({ results: [result] }: TakenTogether) => {
    taken = result ?? null;
  };
  // An operator is acting at this moment, so a due reminder is left out.
  await takeTurns({ ...turns, mayRemind: () => false, onFault: () => {}, onTaken }, [row.id]);
  return taken;
}
