/** A decision on one application becomes a proposal, or is refused with what stands in its way. */
import { createHash } from 'node:crypto';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { withOffset } from '../../base/time.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { inTransaction, type Session, type Transaction } from '../../postgres/database.ts';
import { heldText, illegalText } from '../rules/proposal.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { keepOutcomes, type Outcome, takeRequest } from '../sql/proposal-requests.ts';
import { newestProposalOf, readLogin, readProposal, type StoredProposal } from '../sql/proposals.ts';
import type { Decision } from '../sql/propose.ts';
import { changedSince } from './changed-since.ts';
import type { QueueDesk } from './desk-context.ts';
import { checkDecision, type Decided, type ProposeOutcome, propose } from './propose.ts';
import { noApplication, otherRequest, Refusal } from './refusal.ts';

/** What proposing needs. */
export interface ProposingDesk extends QueueDesk {
  /** UNDO_SECONDS. */
  readonly undoSeconds: number;
}

/**
 * Proposes a decision on an application. `key`: the Idempotency-Key; the same request with it gets the same proposal,
 * as it is now. Throws `OperatorError` for a fault of the body, and a `Refusal`: 404 no such application; 412 something
 * happened since; 409 another proposal is open, another operator claims it, or the act is illegal.
 */
export async function proposeOne(
  { database, undoSeconds, dueHours }: ProposingDesk,
  given: Decision,
  decided: Decided,
  key: string | null,
): Promise<StoredProposal> {
  const decision = checkDecision(given);
  const digest = digestOf(['one', decided.id, decision]);
  await expandReviewsOf(database, [decided.id], dueHours);
  const proposal = await againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const [outcome] = await once(session, decision.makerId, { key, digest }, async () => {
        const [made] = await propose(session, decision, { undoSeconds, isOfMany: false }, [decided]);
        if (made!.result !== 'proposed') throw await refusalOf(session, decision, made!);
        await requirePayable(session, decision, decided.id);
        return [made!];
      });
      return (await readProposal(session, outcome!.proposalId!))!;
    }),
  );
  return proposal;
}

/** Does `work`, or returns what became of the first request with the key. */
export async function once(
  session: Transaction,
  operatorId: number,
  { key, digest }: { readonly key: string | null; readonly digest: Buffer },
  work: () => Promise<Outcome[]>,
): Promise<Outcome[]> {
  if (key === null) return work();
  const request = { operatorId, key, digest };
  const before = await takeRequest(session, request);
  if (before === 'other') throw otherRequest();
  if (before !== 'new') return before;
  const outcomes = await work();
  await keepOutcomes(session, request, outcomes);
  return outcomes;
}

/** SHA-256 of what a request asks for. */
export function digestOf(request: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(request)).digest();
}

/** Refuses at once what `move_application` would refuse when the proposal is applied. */
async function requirePayable(
  session: Session,
  { act, isOverride }: Decision,
  id: ApplicationId,
): Promise<void> {
  if (act !== 'disburse' || isOverride) return;
  const held = await heldByContract(session, id);
  if (held !== null) throw new Refusal(409, heldText(held.until && withOffset(held.until)));
}

async function refusalOf(
  session: Session,
  { act }: Decision,
  { id, result, facts, notTaken }: ProposeOutcome,
): Promise<Refusal> {
  switch (result) {
    case 'unknown':
      return noApplication();
    case 'changed':
      return changedSince(session, id);
    case 'already_proposed':
      return openRefusal(await newestProposalOf(session, id));
    case 'claimed': {
      const by = { id: notTaken!.claimedBy!, login: await readLogin(session, notTaken!.claimedBy!) };
      const until = withOffset(notTaken!.until!);
      return new Refusal(409, `${by.login} reviews it now`, { facts: { by, until } });
    }
    default:
      return new Refusal(409, notTaken?.isPended ? PENDED : illegalText(act, facts?.status ?? null));
  }
}

const PENDED = 'it is pended: resume it first';

function openRefusal(proposal: StoredProposal | null): Refusal {
  if (proposal?.state !== 'proposed')
    return new Refusal(409, 'another decision on it is under way: look again');
  const { id, act, maker } = proposal;
  return new Refusal(409, `${maker.login} has proposed the act ${act} already`, {
    facts: { by: maker, act, proposal: id },
  });
}
