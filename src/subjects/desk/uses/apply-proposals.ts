/**
 * Applies due proposals, each in one transaction: everything happens, or nothing (D48; docs/operators.md, "Proposals").
 * Moves the application, and writes the record of acts, the counts and the end of the proposal.
 */
import {
  type ApplicationStatus,
  type ReviewAction,
  TRANSITIONS,
} from '../../../domain/application/lifecycle.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import { operatorName } from '../../../domain/operator/operator-name.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { storeTrouble } from '../../../ground/postgres/store-trouble.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import { takeUp } from '../../../program/queue/take-up.ts';
import type { Vault } from '../../../seal/vault.ts';
import { moveApplication } from '../../applications/sql/applications.ts';
import { holdApplication } from '../../applications/sql/desk/decision-facts.ts';
import { lastChangeOf } from '../../applications/sql/desk/last-event.ts';
import { type Payment, type PaymentContext, payOut } from '../../conversation/uses/signed/pay-out.ts';
import { openProposed } from '../../signing/uses/proposed-lines.ts';
import { heldBy, heldText, illegalText, waitAfterTry } from '../rules/proposal.ts';
import { type Returned, whyReturned } from '../rules/returned.ts';
import { holdDeciders } from '../sql/deciders.ts';
import {
  backToQueue,
  type DueProposal,
  dropLost,
  endProposal,
  type LostProposal,
  putOff,
  takeDue,
} from '../sql/open-proposals.ts';
import { type DecisionFacts, decidedFactsOf } from './decided-facts.ts';
import { actorOf } from './meanwhile.ts';
import { type LookingDesk, noteDecision } from './second-looks.ts';

/** What applying needs. */
export interface ApplyingDesk extends LookingDesk {
  /** Reads the terms of the day, for payments. */
  readonly terms: () => Promise<Terms | null>;
}

/** What became of a due proposal; null: none was due. */
export type Applied = 'applied' | 'returned' | 'lost' | 'put off' | null;

/**
 * Takes a due proposal that no other process has taken, and applies it. The application moves, so its history, its
 * applicant and its partner hear of it; the act is recorded; the decision is counted and perhaps drawn for a second
 * look; and the proposal ends. A proposal that became illegal, or whose operators may not decide it any more, goes back
 * to its maker with the reason, which is recorded, and its application goes back to the queue. A proposal that fails is
 * put off, and `onFailure` hears of it. Rejects only for trouble of the store; then nothing is changed.
 */
export async function applyNext(
  desk: ApplyingDesk,
  onFailure: (proposalId: number, error: unknown) => void,
): Promise<Applied> {
  const { database, vault } = desk;
  const { claimed, taken } = await takeUp<DueProposal | LostProposal, Applied>(database, {
    most: 1,
    claim: (session) => takeDue(session, vault),
    decide: async (session, [due]) => {
      if (!('isLost' in due)) return end(session, desk, due);
      await dropLost(session, due);
      return 'lost';
    },
    setAside: async (due, error) => {
      await putOff(database, due, waitAfterTry('isLost' in due ? 1 : due.tries + 1));
      onFailure(due.proposalId, error);
    },
    isOfRow: (error) => storeTrouble(error) === null,
  });
  return claimed === 0 ? null : (taken ?? 'put off');
}

async function end(
  session: Transaction,
  { vault, lookShare, terms }: ApplyingDesk,
  due: DueProposal,
): Promise<'applied' | 'returned'> {
  const { act, isOverride, makerId, secondId, applicationId, proposalId, reason } = due;
  // The facts are read now, because the move takes the application out of the queue.
  const facts = (await decidedFactsOf(session, [applicationId])).get(applicationId);
  const returned =
    (await whyHeldBack(session, vault, due, facts)) ?? (await move({ session, vault, terms }, due));
  const second = secondId === null ? '' : `, second ${operatorName(secondId)}`;
  if (returned !== null) {
    await backToQueue(session, applicationId);
    await endProposal(session, due, {
      state: 'returned',
      outcome: returned.text,
      returnedFor: returned.code,
    });
    const target = `proposal ${proposalId} of ${operatorName(makerId)}${second}`;
    const returning = { act: 'proposal return', target, applicationId, reason: returned.text };
    await addOperatorEvents(session, chainKeysOf(vault), SERVICE, [returning]);
    return 'returned';
  }
  await endProposal(session, due, { state: 'applied' });
  const score = facts?.status === 'in_review' ? facts.score : null;
  await noteDecision(session, { ...due, checkerId: secondId, score }, lookShare);
  await addOperatorEvents(session, chainKeysOf(vault), operatorName(makerId), [
    {
      act: `application ${act}${isOverride ? ' --override' : ''}`,
      target: `proposal ${proposalId}${second}`,
      applicationId,
      reason,
    },
  ]);
  return 'applied';
}

/** The name in the record for whoever returns a proposal. */
const SERVICE = 'ventanilla';
const FORGED: Returned = {
  code: 'unreadable',
  text: 'it was changed in the database by somebody without the keys of the service',
};
const DELETED: Returned = { code: 'deleted', text: 'the application is deleted' };

/**
 * What speaks against a decision before its application is locked; null: nothing. The accounts of its operators cannot
 * change meanwhile.
 */
async function whyHeldBack(
  session: Transaction,
  vault: Vault,
  { act, isOverride, makerId, secondId, ...due }: DueProposal,
  facts: DecisionFacts | undefined,
): Promise<Returned | null> {
  if (due.isForged) return FORGED;
  if (facts === undefined) return DELETED;
  const { status, currency, debtAmount } = facts;
  if (status === null) return illegal(act, null);
  const deciders = await holdDeciders(session, vault, secondId === null ? [makerId] : [makerId, secondId]);
  return whyReturned({
    ...due,
    decided: { act, isOverride, currency, debtAmount },
    maker: deciders.get(makerId) ?? null,
    second: secondId === null ? null : (deciders.get(secondId) ?? null),
  });
}

/** Moves the application if it is still as it was decided on. Otherwise returns why not. */
async function move(context: PaymentContext, due: DueProposal): Promise<Returned | null> {
  const { applicationId, act, signedAt, decidedOn, reason, reasonCode } = due;
  const { session } = context;
  const held = await holdApplication(session, applicationId);
  if (held === null) return DELETED;
  if (held.status === null) return illegal(act, null);
  if (held.lastEvent !== decidedOn) return { code: 'changed', text: await changedText(session, due) };
  if (held.signedAt?.getTime() !== signedAt?.getTime())
    return { code: 'signed', text: 'the applicant has signed the contract meanwhile' };
  const by = {
    ...{ actor: operatorName(due.makerId), reason, reasonCode },
    ...(due.secondId !== null && { second: operatorName(due.secondId) }),
  };
  if (act === 'disburse') return pay(context, due, by);
  const moved = await moveApplication(session, applicationId, { ...TRANSITIONS[act], action: act, ...by });
  return moved?.moved ? null : illegal(act, moved?.status ?? null);
}

/** Pays out by the lines that the second operator has confirmed. Otherwise returns why not. */
async function pay(
  context: PaymentContext,
  { applicationId, proposalId, act, isOverride, lines: sealed }: DueProposal,
  by: Pick<Payment, 'actor' | 'reason' | 'reasonCode' | 'second'>,
): Promise<Returned | null> {
  const lines = sealed && (await openProposed(context, applicationId, proposalId, sealed));
  const paid = await payOut(context, applicationId, { ...by, isOverride, lines: lines ?? [] });
  if (paid.kind === 'refused') return { code: paid.objections[0] ?? 'lines_differ', text: paid.text };
  const { moved } = paid;
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
