/** An operator records a withdrawal that came by another way than the chat; the conversation hears of it (D46). */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import { APPLICANT } from '../../../../domain/application/lifecycle.ts';
import { inTransaction } from '../../../../ground/postgres/database.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../../program/operations/operator-context.ts';
import {
  type GivenWithdrawal,
  judgeReceived,
  type RecordedWithdrawal,
  recordedWithdrawals,
} from '../../../signing/uses/received-withdrawal.ts';
import { isMuted } from '../../sql/begin.ts';
import { conversationOf, lockConversation } from '../../sql/conversations.ts';
import { tell } from '../tell.ts';

/** What recording a withdrawal came to. */
export interface WithdrawalRecord extends RecordedWithdrawal {
  /** false: a withdrawal is recorded already, and nothing has changed. */
  readonly isNew: boolean;
  /** The chat tells the person. */
  readonly isTold: boolean;
}

/**
 * Records a withdrawal, as a part of the transaction of the caller: with the evidence, the partner's events and the end
 * of the conversation. A word of the person that came first counts, also where it waits, and this one does not. Throws
 * `OperatorError` as `judgeReceived` does.
 */
export async function recordWithdrawal(
  context: OperatorContext,
  id: ApplicationId,
  { reason, ...given }: GivenWithdrawal & { readonly reason: string },
): Promise<WithdrawalRecord> {
  const by = { actor: context.actor, reason: checkReason(reason) };
  // The history knows the applicant by this name.
  if (by.actor === APPLICANT) throw new OperatorError(`the name "${APPLICANT}" is no operator's: use --as`);
  const found = await conversationOf(context.database, id);
  return inTransaction(context.database, async (session) => {
    // A turn of the service that is under way comes first.
    const row = found && (await lockConversation(session, found.id));
    const [before] = await recordedWithdrawals(session, context.vault, id);
    if (before !== undefined) return { ...before, isNew: false, isTold: false };
    const judged = await judgeReceived(session, id, given);
    if (row === null) throw new OperatorError(`the person of application ${id} is erased`);
    const input = { kind: 'withdrawal_received', ...judged, by } as const;
    // A turn that fails sets a damaged state aside: the next turn can be taken.
    const turn = (await tell(context, row, input)) ?? (await tell(context, row, input));
    const [recorded] = await recordedWithdrawals(session, context.vault, id);
    if (recorded?.by === 'operator') {
      const isTold = turn?.tellsWithdrawal === true && !(await isMuted(session, row));
      return { ...recorded, isNew: true, isTold };
    }
    if (recorded !== undefined) return { ...recorded, isNew: false, isTold: false };
    // An input that waits is sealed with a key that this process lacks.
    throw new OperatorError(`the conversation of application ${id} cannot be read now: nothing is recorded`);
  });
}
