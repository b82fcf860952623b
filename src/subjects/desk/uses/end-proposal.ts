/**
 * Lets operators undo, confirm and decline proposals (D48; docs/operators.md, "Proposals"). Locks and writes proposals,
 * and records confirmations and refusals.
 */
import type { Terms } from '../../../domain/loan/terms.ts';
import {
  againAfterConflict,
  inTransaction,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { checkReason, type OperatorContext } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { haveAuthority, mayDecide } from '../rules/proposal.ts';
import { type Claimer, takeClaim } from '../sql/claims.ts';
import { readDeciders } from '../sql/deciders.ts';
import { backToQueue, endProposal, lockOpen, writeConfirmation } from '../sql/open-proposals.ts';
import { readProposal, type StoredProposal } from '../sql/proposals.ts';
import { type ProposalFacts, proposalFactsOf } from './confirmations.ts';
import { decidedFactsOf } from './decided-facts.ts';
import { conflict, NotAsSeen, needsSignIn, Refusal } from './refusal.ts';

/**
 * The maker takes a proposal back, and holds the claim of the application again. A repetition changes nothing. Throws a
 * `Refusal`: 404 there is no such proposal; 403 it is another operator's; 409 it is not open any more.
 */
export function undoProposal(
  { database }: Pick<OperatorContext, 'database'>,
  claimer: Claimer,
  id: number,
): Promise<StoredProposal> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const require = ({ maker }: StoredProposal) => {
        if (maker.id !== claimer.operatorId)
          throw new Refusal(403, `${maker.login} made it: only the maker undoes a proposal`);
      };
      const proposal = await lockProposal(session, id, require, ({ state }) => state === 'undone');
      if (proposal.state === 'undone') return proposal;
      const { applicationId } = proposal;
      // The claim comes first, because each claim locks the page before the item.
      await takeClaim(session, applicationId, claimer);
      await backToQueue(session, applicationId);
      await endProposal(session, { proposalId: id, applicationId }, { state: 'undone' });
      return (await readProposal(session, id))!;
    }),
  );
}

/** The second operator, and whether both factors were proved within five minutes. */
export interface Second {
  readonly id: number;
  readonly isFresh: boolean;
}

/** A proposal with its present facts. */
export interface ProposalNow {
  readonly proposal: StoredProposal;
  readonly facts: ProposalFacts;
}

/**
 * A second operator confirms a proposal, which is recorded. `seen` belongs to the facts that were shown. A repetition
 * by the same operator changes nothing. Throws a `NotAsSeen` (of `ProposalNow`) if the facts have changed, and a
 * `Refusal`: 404 there is none; 403 it is the operator's own, or a payment without a new sign-in; 409 it needs no
 * second operator, has another one, is not open any more, or neither of the two has the authority for its amount. In
 * the end the authority at the moment of applying counts.
 */
export async function confirmProposal(
  context: OperatorContext,
  second: Second,
  id: number,
  { seen, terms }: { readonly seen: string; readonly terms: Terms | null },
): Promise<StoredProposal> {
  const isRepeated = (proposal: StoredProposal) =>
    proposal.confirmedAt !== null && proposal.second?.id === second.id;
  const { proposal } = await acting(
    context,
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = await lockForSecond(session, part.vault, second, id, isRepeated);
        if (isRepeated(before)) return { proposal: before, isNew: false };
        if (before.act === 'disburse' && !second.isFresh) throw needsSignIn();
        await requireAuthority(session, part.vault, before, second);
        const facts = (await proposalFactsOf({ session, vault: part.vault, terms }, second.id, [before])).get(
          id,
        )!;
        if (facts.seen !== seen) throw new NotAsSeen<ProposalNow>({ proposal: before, facts });
        await writeConfirmation(session, part.vault, id, second.id);
        return { proposal: (await readProposal(session, id))!, isNew: true };
      }),
    (end) => (end.isNew ? { act: 'proposal confirm', ...named(end.proposal) } : null),
  );
  return proposal;
}

/** A second operator declines a proposal with a reason, which is recorded. Throws as `confirmProposal`. */
export async function declineProposal(
  context: OperatorContext,
  second: Second,
  id: number,
  given: string,
): Promise<StoredProposal> {
  const reason = checkReason(given);
  const isRepeated = (proposal: StoredProposal) =>
    proposal.state === 'declined' && proposal.second?.id === second.id && proposal.outcome === reason;
  const { proposal } = await acting(
    context,
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = await lockForSecond(session, part.vault, second, id, isRepeated);
        if (isRepeated(before)) return { proposal: before, isNew: false };
        const { applicationId } = before;
        await backToQueue(session, applicationId);
        const end = { state: 'declined', outcome: reason, secondId: second.id } as const;
        await endProposal(session, { proposalId: id, applicationId }, end);
        return { proposal: (await readProposal(session, id))!, isNew: true };
      }),
    (end) => (end.isNew ? { act: 'proposal decline', ...named(end.proposal), reason } : null),
  );
  return proposal;
}

/** Refuses a confirmation at once if the proposal would come back when it is applied. */
async function requireAuthority(
  session: Session,
  vault: Vault,
  proposal: StoredProposal,
  second: Second,
): Promise<void> {
  const { applicationId, act, isOverride, maker } = proposal;
  const deciders = await readDeciders(session, vault, [maker.id, second.id]);
  const facts = (await decidedFactsOf(session, [applicationId])).get(applicationId);
  // A deleted or unreadable application comes back with that reason.
  if (facts === undefined || facts.status === null) return;
  const { currency, debtAmount } = facts;
  if (haveAuthority({ act, isOverride, currency, debtAmount }, [...deciders.values()])) return;
  throw conflict('no_authority', `neither you nor ${maker.login} has the authority for this amount`);
}

function named({ id, applicationId }: StoredProposal) {
  return { target: `proposal ${id}`, applicationId };
}

/**
 * Locks an open proposal that waits for a second operator, who must not be its maker. If the request is a repetition,
 * returns the proposal as it is.
 */
async function lockForSecond(
  session: Transaction,
  vault: Vault,
  second: Second,
  id: number,
  isRepeated: (proposal: StoredProposal) => boolean,
): Promise<StoredProposal> {
  const require = ({ maker }: StoredProposal) => {
    if (maker.id === second.id)
      throw new Refusal(403, 'you made it: another operator confirms or declines a proposal');
  };
  const proposal = await lockProposal(session, id, require, isRepeated);
  if (isRepeated(proposal)) return proposal;
  // The account may have changed since the request began.
  if (!mayDecide((await readDeciders(session, vault, [second.id])).get(second.id) ?? null))
    throw new Refusal(403, 'your account may not decide any more');
  if (proposal.needsSecond === null) throw conflict('no_second', 'it needs no second operator');
  if (proposal.confirmedAt !== null) {
    throw conflict('confirmed', `${proposal.second?.login} has confirmed it already`, {
      by: proposal.second,
      state: proposal.state,
    });
  }
  return proposal;
}

/**
 * Locks an open proposal, after `require` has checked what never changes about it. A proposal that is not open any more
 * is returned if the request repeats the one that ended it.
 */
async function lockProposal(
  session: Transaction,
  id: number,
  require: (proposal: StoredProposal) => void,
  isRepeated: (proposal: StoredProposal) => boolean,
): Promise<StoredProposal> {
  require(await found(session, id));
  const isOpen = await lockOpen(session, id);
  const proposal = await found(session, id);
  if (isOpen || isRepeated(proposal)) return proposal;
  const { state, second, outcome } = proposal;
  throw conflict('not_open', `it is ${state} already`, { state, by: second, outcome });
}

async function found(session: Session, id: number): Promise<StoredProposal> {
  const proposal = await readProposal(session, id);
  if (proposal === null) throw new Refusal(404, 'there is no such proposal');
  return proposal;
}
