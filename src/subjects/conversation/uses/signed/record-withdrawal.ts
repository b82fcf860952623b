/**
 * Records a withdrawal that came by another way than the chat, and tells the conversation (D46; docs/signing.md, "The
 * signature"). Signing judges it; the turn writes the evidence, the rejection and the events.
 */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import { APPLICANT } from '../../../../domain/application/lifecycle.ts';
import { inTransaction } from '../../../../ground/postgres/database.ts';
import { checkReason, OperatorError } from '../../../../program/operations/operator-context.ts';
import {
  type GivenWithdrawal,
  judgeReceived,
  type RecordedWithdrawal,
  recordedWithdrawals,
} from '../../../signing/uses/received-withdrawal.ts';
import { isMuted } from '../../sql/begin.ts';
import { conversationOf, lockConversation } from '../../sql/conversations.ts';
import { type SpeakingContext, tell } from '../tell.ts';

/** The result of recording a withdrawal. */
export interface WithdrawalRecord extends RecordedWithdrawal {
  /** false: a withdrawal was recorded before, and nothing has changed. */
  readonly isNew: boolean;
  /** The person is told in the chat. */
  readonly isTold: boolean;
}

/**
 * Records a withdrawal, in the caller's transaction: with the evidence, the partner's events and the end of the
 * conversation. If the person's own word came first, even if it still waits for its turn, that word counts and not this
 * record. Throws `OperatorError` as `judgeReceived` does.
 */
export async function recordWithdrawal(
  context: SpeakingContext,
  id: ApplicationId,
  { reason, ...given }: GivenWithdrawal & { readonly reason: string },
): Promise<WithdrawalRecord> {
  const by = { actor: context.actor, reason: checkReason(reason) };
  // In the history this name stands for the applicant.
  if (by.actor === APPLICANT) throw new OperatorError(`the name "${APPLICANT}" is no operator's: use --as`);
  const found = await conversationOf(context.database, id);
  return inTransaction(context.database, async (session) => {
    // Waits for a turn of the service that is under way.
    const row = found && (await lockConversation(session, found.id));
    const [before] = await recordedWithdrawals(session, context.vault, id);
    if (before !== undefined) return { ...before, isNew: false, isTold: false };
    const judged = await judgeReceived(session, id, given);
    if (row === null) throw new OperatorError(`the person of application ${id} is erased`);
    const input = { kind: 'withdrawal_received', ...judged, by } as const;
    // A turn that fails sets the damaged state aside, so the second try can succeed.
    const turn = (await tell(context, row, input)) ?? (await tell(context, row, input));
    const [recorded] = await recordedWithdrawals(session, context.vault, id);
    if (recorded?.by === 'operator') {
      const isTold = turn?.tellsWithdrawal === true && !(await isMuted(session, row));
      return { ...recorded, isNew: true, isTold };
    }
    if (recorded !== undefined) return { ...recorded, isNew: false, isTold: false };
    // A waiting input is sealed with a key that this process lacks.
    throw new OperatorError(`the conversation of application ${id} cannot be read now: nothing is recorded`);
  });
}
