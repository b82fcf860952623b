/** Whether a person can have read the open question. Pure. */

import type { QuestionRead } from '../../../domain/conversation/input.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';

/**
 * Whether the person can have read the question of this reply (D43); null: there is none. A button under it is of the
 * message that has it (`isProven`). A word and the buttons of a reminder can be older than the question, or come while
 * it is on its way to the phone: these count once the channel has told of its arrival. `sentMs`: when the person
 * answered, by the channel's clock.
 */
export function questionRead(
  reply: ToldReply | null,
  isProven: boolean,
  sentMs: number | undefined,
): QuestionRead {
  if (reply === null || reply.fate === 'lost') return 'cannot';
  // The button is the proof, also where the service has not noted yet that the channel took the question.
  if (isProven) return 'can';
  if (reply.fate !== 'taken') return reply.fate === 'queued' ? 'coming' : 'may';
  // Both by the channel's clock, which tells whole seconds: within one second nothing says what came first.
  const { arrivedAt } = reply;
  return arrivedAt !== null && sentMs !== undefined && arrivedAt.getTime() < sentMs ? 'can' : 'cannot';
}
