/** How operators propose decisions (D48): on one application, or on many at once. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import { codesOfOperators } from '../../../domain/application/reason-codes.ts';
import type { Authority } from '../../../domain/operator/authority.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { checkReason } from '../../../program/operations/reason.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lastEventsOf } from '../../applications/sql/desk/last-event.ts';
import { type BulkResult, secondReasonOf } from '../rules/proposal.ts';
import { readDeciders } from '../sql/deciders.ts';
import type { Outcome } from '../sql/desk-requests.ts';
import { backToQueue } from '../sql/open-proposals.ts';
import {
  addProposals,
  type Decision,
  type NewProposal,
  type NotTaken,
  reserve,
  takeItems,
  unreserve,
} from '../sql/propose.ts';
import { type DecisionFacts, decidedFactsOf } from './decided-facts.ts';

export type { Decision };

/** An application, and the event that the decision on it stands on. */
export interface Decided {
  readonly id: ApplicationId;
  readonly lastEvent: string;
}

/** What became of one application, with what a refusal tells. */
export interface ProposeOutcome extends Outcome {
  readonly facts: DecisionFacts | undefined;
  /** Who claims it, or that it is pended. */
  readonly notTaken?: NotTaken;
}

/** Throws `OperatorError` where the code is of another act, an override of no payment, or the reason no line. */
export function checkDecision(decision: Decision): Decision {
  const { act, reasonCode, isOverride } = decision;
  const codes = codesOfOperators(act);
  if (!codes.includes(reasonCode))
    throw new OperatorError(`reason_code of the act ${act} must be one of: ${codes.join(', ')}`);
  if (isOverride && act !== 'disburse') throw new OperatorError('override is for the act disburse alone');
  return { ...decision, reason: checkReason(decision.reason) };
}

/**
 * Proposes a decision on each of these applications that it may be proposed on, and returns what became of each, in
 * their order. It writes nothing for the others.
 */
export async function propose(
  session: Transaction,
  decision: Decision,
  {
    vault,
    undoSeconds,
    isOfMany,
  }: { readonly vault: Vault; readonly undoSeconds: number; readonly isOfMany: boolean },
  decided: readonly Decided[],
): Promise<ProposeOutcome[]> {
  const ids = decided.map(({ id }) => id).toSorted((one, other) => one - other);
  const facts = await decidedFactsOf(session, ids);
  const last = await lastEventsOf(session, ids);
  const maker = (await readDeciders(session, vault, [decision.makerId])).get(decision.makerId);
  const authority: Authority = maker?.authority ?? new Map();
  const byId = new Map(decided.map((one) => [one.id, one]));
  const objections = new Map(
    ids.map((id) => [id, objectionTo(byId.get(id)!, facts.get(id), last.get(id), decision)]),
  );
  const reserved = await reserve(
    session,
    ids.filter((id) => objections.get(id) === null),
    isOfMany,
  );
  const inReview = reserved.map(({ id }) => id).filter((id) => facts.get(id)?.status === 'in_review');
  const notTaken = new Map(
    (await takeItems(session, inReview, decision.makerId)).map((one) => [one.id, one]),
  );
  // What moved an application, or erased its person, may have committed while its item was waited for.
  const changed = await changedOf(
    session,
    reserved.flatMap(({ id }) => byId.get(id) ?? []),
  );
  for (const id of changed) {
    objections.set(id, 'changed');
    if (!notTaken.has(id)) await backToQueue(session, id);
  }
  await unreserve(session, [...notTaken.keys(), ...changed]);
  const made = reserved
    .filter(({ id }) => !notTaken.has(id) && !changed.has(id))
    .map(
      (one): NewProposal => newProposal(one, byId.get(one.id)!, facts.get(one.id)!, { decision, authority }),
    );
  await addProposals(session, vault, decision, undoSeconds, made);
  const proposals = new Map(made.map(({ id, proposalId }) => [id, proposalId]));
  return decided.map(({ id }) => {
    const obstacle = notTaken.get(id);
    const proposalId = proposals.get(id) ?? null;
    const result = objections.get(id) ?? resultOf(proposalId, obstacle);
    return { id, result, proposalId, facts: facts.get(id), ...(obstacle && { notTaken: obstacle }) };
  });
}

async function changedOf(session: Transaction, some: readonly Decided[]): Promise<Set<ApplicationId>> {
  const last = await lastEventsOf(
    session,
    some.map(({ id }) => id),
  );
  return new Set(some.flatMap(({ id, lastEvent }) => (last.get(id) === lastEvent ? [] : [id])));
}

/** Why an application does not get the proposal; null: nothing speaks against it yet. */
function objectionTo(
  { lastEvent }: Decided,
  facts: DecisionFacts | undefined,
  last: string | undefined,
  { act }: Decision,
): BulkResult | null {
  if (facts === undefined) return 'unknown';
  if (last !== lastEvent) return 'changed';
  return facts.status !== null && TRANSITIONS[act].from.includes(facts.status) ? null : 'illegal';
}

function resultOf(proposalId: number | null, obstacle: NotTaken | undefined): BulkResult {
  if (proposalId !== null) return 'proposed';
  if (obstacle === undefined) return 'already_proposed';
  return obstacle.isPended ? 'illegal' : 'claimed';
}

function newProposal(
  reserved: { readonly id: ApplicationId; readonly proposalId: number },
  { lastEvent }: Decided,
  { currency, debtAmount, signedAt }: DecisionFacts,
  { decision, authority }: { readonly decision: Decision; readonly authority: Authority },
): NewProposal {
  const { act, isOverride } = decision;
  return {
    ...reserved,
    ...{ decidedOn: lastEvent, signedAt },
    needsSecond: secondReasonOf({ act, isOverride, currency, debtAmount }, authority),
  };
}
