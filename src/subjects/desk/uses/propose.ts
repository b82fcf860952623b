/**
 * What proposing on one application and on many have in common: the check of the decision, its basis, and the
 * candidates (D48; docs/operators.md, "Proposals"). Makes missing items of the queue, and otherwise only reads.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import { codesOfOperators } from '../../../domain/application/reason-codes.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import { checkReason, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type BulkResult, secondReasonOf } from '../rules/proposal.ts';
import type { Before, KeyedRequest, RequestOutcome, SpentKey } from '../sql/desk-requests.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import {
  type ApplicationStand,
  type Candidate,
  type OperatorDecision,
  type Proposing,
  readStand,
  type Stand,
} from '../sql/propose.ts';
import { type DecisionFacts, readFacts } from './decided-facts.ts';
import type { QueueDesk } from './desk-context.ts';
import { spentKey } from './refusal.ts';

export type { OperatorDecision };

/** What proposing needs. */
export interface ProposingDesk extends QueueDesk {
  readonly vault: Vault;
  /** The value of UNDO_SECONDS. */
  readonly undoSeconds: number;
  /** Reads the terms of the day, for payments. */
  readonly terms: () => Promise<Terms | null>;
}

/** An application, and the event that the decision is based on. */
export interface Decided {
  readonly id: ApplicationId;
  readonly lastEvent: string;
}

/**
 * Checks a decision. Throws `OperatorError` if the reason code belongs to another act, if an override or lines are for
 * no payment, if an override has no reason in words, or if the reason is not one line.
 */
export function checkDecision(decision: OperatorDecision): OperatorDecision {
  const { act, reasonCode, isOverride, lines } = decision;
  const codes = codesOfOperators(act);
  if (!codes.includes(reasonCode))
    throw new OperatorError(`reason_code of the act ${act} must be one of: ${codes.join(', ')}`);
  if (isOverride && act !== 'disburse') throw new OperatorError('override is for the act disburse alone');
  if (isOverride && decision.reason.trim() === reasonCode)
    throw new OperatorError('reason must say in words why it is paid out in spite of the contract');
  if (lines.length > 0 && act !== 'disburse') throw new OperatorError('lines are for the act disburse alone');
  return { ...decision, reason: checkReason(decision.reason) };
}

/** What a decision is based on. */
export interface Basis extends Stand {
  /** Applications that do not exist are absent. */
  readonly facts: ReadonlyMap<ApplicationId, DecisionFacts>;
}

/**
 * Reads what a decision on these applications is based on, and makes the missing items of those in review. If the
 * request came before, only that counts.
 */
export async function basisOf(
  { database, vault, dueHours }: ProposingDesk,
  makerId: number,
  ids: readonly ApplicationId[],
  request: KeyedRequest | null,
): Promise<Basis> {
  const stand = await readStand(database, vault, makerId, ids, request);
  const { before, queued } = stand;
  if (before !== null) return { ...stand, facts: queued };
  const unqueued = ids.filter((id) => !queued.has(id));
  const others = await readFacts(database, unqueued);
  const inReview = unqueued.filter((id) => others.get(id)?.status === 'in_review');
  await expandReviewsOf(database, inReview, dueHours);
  return { ...stand, facts: new Map([...queued, ...others]) };
}

/** What would be proposed on each of these applications, in their order, or what speaks against it. */
export function candidatesOf(
  { act, isOverride }: OperatorDecision,
  decided: readonly Decided[],
  { applications, facts, maker }: Basis,
): Candidate[] {
  const stands = new Map(applications.map((one) => [one.id, one]));
  return decided.map(({ id, lastEvent }): Candidate => {
    const stand = stands.get(id)!;
    const found = facts.get(id);
    if (found === undefined) return { id, objection: 'unknown' };
    const objection = objectionTo(act, lastEvent, stand, found);
    if (objection !== null) return { id, objection };
    const { currency, debtAmount, signedAt } = found;
    const needsSecond = secondReasonOf({ act, isOverride, currency, debtAmount }, maker.authority);
    const { proposalId } = stand;
    return { id, objection, proposalId, decidedOn: lastEvent, signedAt, needsSecond, lines: null };
  });
}

/** Why an application does not get the proposal; null: so far nothing speaks against it. */
function objectionTo(
  act: OperatorDecision['act'],
  decidedOn: string,
  { lastEvent, isProposed }: ApplicationStand,
  { status }: DecisionFacts,
): BulkResult | null {
  if (lastEvent !== decidedOn) return 'changed';
  if (status === null || !TRANSITIONS[act].from.includes(status)) return 'illegal';
  return isProposed ? 'already_proposed' : null;
}

/** How the proposals of a request are made on this basis. The time to undo begins at the moment of the basis. */
export function proposing(
  { undoSeconds }: Pick<ProposingDesk, 'undoSeconds'>,
  { now: at }: Pick<Basis, 'now'>,
  request: KeyedRequest | null,
): Proposing {
  return { request, at, applyAt: new Date(at.getTime() + undoSeconds * 1_000) };
}

/** What became of the first request with a key. Throws a `Refusal` if the key was used for another request. */
export function outcomesBefore(before: SpentKey | Before): readonly RequestOutcome[] {
  if (typeof before === 'string') throw spentKey(before);
  return before.outcomes;
}
