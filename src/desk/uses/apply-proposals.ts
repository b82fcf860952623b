/** Applies due proposals, each in a transaction of its own: all of it happens, or nothing (D48). */
import {
  type ApplicationStatus,
  type ReviewAction,
  TRANSITIONS,
} from '../../applications/rules/lifecycle.ts';
import { moveApplication } from '../../applications/sql/applications.ts';
import { holdApplication } from '../../applications/sql/desk/decision-facts.ts';
import { lastChangeOf } from '../../applications/sql/desk/last-event.ts';
import { withOffset } from '../../base/time.ts';
import { chainKeysOf } from '../../operations/chain-keys.ts';
import { addOperatorEvents } from '../../operations/sql/operator-events.ts';
import { operatorName } from '../../operators/rules/operator-name.ts';
import { type Database, inTransaction, type Session, type Transaction } from '../../postgres/database.ts';
import { storeTrouble } from '../../postgres/store-trouble.ts';
import { heldBy, heldText, illegalText, waitAfterTry } from '../rules/proposal.ts';
import { type Returned, whyReturned } from '../rules/returned.ts';
import { scoreInReview } from '../sql/decisions.ts';
import {
  backToQueue,
  type DueProposal,
  dropLost,
  endProposal,
  type LostProposal,
  putOff,
  takeDue,
} from '../sql/open-proposals.ts';
import { actorOf } from './changed-since.ts';
import { type LookingDesk, noteDecision } from './second-looks.ts';

/** What became of a due proposal; null: none was due. */
export type Applied = 'applied' | 'returned' | 'lost' | 'put off' | null;

/**
 * Takes a due proposal that no other process has taken, and applies it: the application moves, which its history, the
 * applicant and the partner hear of, the record of acts gets its row, the decision is counted and perhaps drawn for a
 * second look, and the proposal ends. One that became illegal
 * goes back to its maker with the reason, and its application to the queue. One that fails is put off, and
 * `onFailure` hears of it. Rejects for trouble of the store alone: nothing is changed then.
 */
export async function applyNext(
  desk: LookingDesk,
  onFailure: (proposalId: number, error: unknown) => void,
): Promise<Applied> {
  let taken: DueProposal | LostProposal | null = null;
  try {
    return await inTransaction(desk.database, async (session) => {
      taken = await takeDue(session);
      if (taken === null) return null;
      if ('isLost' in taken) {
        await dropLost(session, taken);
        return 'lost';
      }
      return end(session, desk, taken);
    });
  } catch (error) {
    if (taken === null || storeTrouble(error) !== null) throw error;
    await putOffFailed(desk.database, taken);
    onFailure((taken as DueProposal).proposalId, error);
    return 'put off';
  }
}

async function putOffFailed(database: Database, taken: DueProposal | LostProposal): Promise<void> {
  await putOff(database, taken, waitAfterTry('isLost' in taken ? 1 : taken.tries + 1));
}

async function end(
  session: Transaction,
  { vault, lookShare }: LookingDesk,
  due: DueProposal,
): Promise<'applied' | 'returned'> {
  // The move takes the application out of the queue.
  const score = await scoreInReview(session, due.applicationId);
  const returned = whyReturned(due) ?? (await move(session, due));
  if (returned !== null) {
    await backToQueue(session, due.applicationId);
    await endProposal(session, due, {
      ...{ state: 'returned', outcome: returned.text, returnedFor: returned.code },
    });
    return 'returned';
  }
  await endProposal(session, due, { state: 'applied' });
  await noteDecision(session, { ...due, checkerId: due.secondId, score }, lookShare);
  const { act, isOverride, makerId, secondId, applicationId, reason } = due;
  const second = secondId === null ? '' : `, second ${operatorName(secondId)}`;
  await addOperatorEvents(session, chainKeysOf(vault), operatorName(makerId), [
    {
      act: `application ${act}${isOverride ? ' --override' : ''}`,
      target: `proposal ${due.proposalId}${second}`,
      ...{ applicationId, reason },
    },
  ]);
  return 'applied';
}

/** Moves the application where it is still the one that was decided on; else returns why not. */
async function move(session: Transaction, due: DueProposal): Promise<Returned | null> {
  const { applicationId, act, signedAt, decidedOn, reason, reasonCode, isOverride } = due;
  const held = await holdApplication(session, applicationId);
  if (held === null) return { code: 'deleted', text: 'the application is deleted' };
  if (held.status === null) return illegal(act, null);
  if (held.lastEvent !== decidedOn) return { code: 'changed', text: await changedText(session, due) };
  if (held.signedAt?.getTime() !== signedAt?.getTime())
    return { code: 'signed', text: 'the applicant has signed the contract meanwhile' };
  const moved = await moveApplication(session, applicationId, {
    ...{ ...TRANSITIONS[act], actor: operatorName(due.makerId), action: act, reason, reasonCode, isOverride },
    ...(due.secondId !== null && { second: operatorName(due.secondId) }),
  });
  if (moved?.heldByContract) {
    const until = moved.withdrawableUntil;
    return { code: heldBy(until), text: heldText(until && withOffset(until)) };
  }
  return moved?.moved ? null : illegal(act, moved?.status ?? null);
}

function illegal(act: ReviewAction, status: ApplicationStatus | null): Returned {
  return { code: status === null ? 'unreadable' : 'illegal', text: illegalText(act, status) };
}

async function changedText(session: Session, { applicationId }: DueProposal): Promise<string> {
  const change = await lastChangeOf(session, applicationId);
  if (change === null) return 'its history is another one now';
  const { login } = await actorOf(session, change);
  return `${login} did ${change.act} meanwhile`;
}
