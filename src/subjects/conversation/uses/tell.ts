/**
 * Tells a conversation what an operator did: stores the input and takes its turn at once, in the transaction of the
 * act. Writes `conversation_inputs` and the results of the turn.
 */
import { termsIn } from '../../../domain/conversation/consent.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { addInputs, type InputContent } from '../sql/inputs.ts';
import { signingOf } from './neighbours.ts';
import type { TurnResult } from './turn-result.ts';
import { type TakenTogether, takeTurns } from './turns.ts';

/** What an act needs whose turn may ask for the consent: the question names the lender by the terms of the moment. */
export interface SpeakingContext extends OperatorContext {
  readonly terms: () => Promise<Terms | null>;
}

/**
 * Stores an input from the operator, and takes its turn, in the transaction of the act. Returns the turn; null: it
 * could not be taken.
 */
export async function tell(
  context: SpeakingContext,
  row: ConversationRow,
  content: InputContent,
): Promise<TurnResult | null> {
  const { database, vault, clock } = context;
  const about = { conversationId: row.id, applicationId: row.applicationId };
  await addInputs(database, vault, 'operator', [
    { ...about, messageIndex: null, workId: null, at: null, content },
  ]);
  const termsOf = termsIn(await context.terms());
  const turns = { database, vault, clock, signing: signingOf(vault), flows: new Map(), termsOf };
  let taken: TurnResult | null = null;
  const onTaken = ({ results: [result] }: TakenTogether) => {
    taken = result ?? null;
  };
  // An operator is acting at this moment, so a due reminder is left out.
  await takeTurns({ ...turns, mayRemind: () => false, onFault: () => {}, onTaken }, [row.id]);
  return taken;
}
