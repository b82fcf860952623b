/** A decision on one application becomes a proposal, or is refused with what stands in its way. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withOffset } from '../../../ground/base/time.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import { inTransaction, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import type { Vault } from '../../../seal/vault.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { heldBy, heldText, illegalText } from '../rules/proposal.ts';
import {
  type KeyedRequest,
  keepOutcomes,
  keyedRequest,
  type Outcome,
  takeRequest,
} from '../sql/desk-requests.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { readLogin, readProposal, type StoredProposal } from '../sql/proposals.ts';
import type { Decision } from '../sql/propose.ts';
import { changedSince } from './changed-since.ts';
import { claimedRefusal, proposedRefusal } from './claim-refusal.ts';
import type { QueueDesk } from './desk-context.ts';
import { checkDecision, type Decided, type ProposeOutcome, propose } from './propose.ts';
import { conflict, noApplication, type Refusal, spentKey } from './refusal.ts';

/** What proposing needs. */
export interface ProposingDesk extends QueueDesk {
  readonly vault: Vault;
  /** UNDO_SECONDS. */
  readonly undoSeconds: number;
}

/** A proposal as it is at `now`, by the database's clock. */
interface Made {
  readonly proposal: StoredProposal;
  readonly now: Date;
}

/**
 * Proposes a decision on an application. `key`: the Idempotency-Key; the same request with it gets the same proposal,
 * as it is now. Throws `OperatorError` for a fault of the body, and a `Refusal`: 404 no such application; 412 something
 * happened since; 409 another proposal is open, another operator claims it, or the act is illegal.
 */
export async function proposeOne(
  { database, vault, undoSeconds, dueHours }: ProposingDesk,
  given: Decision,
  decided: Decided,
  key: string | null,
): Promise<Made> {
  const decision = checkDecision(given);
  const request = keyedRequest(decision.makerId, key, ['one', decided.id, decision]);
  await expandReviewsOf(database, [decided.id], dueHours);
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      const [outcome] = await once(session, request, async () => {
        const [made] = await propose(session, decision, { vault, undoSeconds, isOfMany: false }, [decided]);
        if (made!.result !== 'proposed') throw await refusalOf(session, decision, made!);
        await requirePayable(session, decision, decided.id);
        return [made!];
      });
      const proposal = (await readProposal(session, outcome!.proposalId!))!;
      return { proposal, now: await databaseTime(session) };
    }),
  );
}

/** Does `work`, or returns what became of the first request with the key. */
export async function once(
  session: Transaction,
  request: KeyedRequest | null,
  work: () => Promise<Outcome[]>,
): Promise<Outcome[]> {
  if (request === null) return work();
  const before = await takeRequest(session, request);
  if (before === 'other' || before === 'undone') throw spentKey(before);
  if (before !== 'new') return before.outcomes;
  const outcomes = await work();
  await keepOutcomes(session, request, outcomes);
  return outcomes;
}

/** Refuses at once what `move_application` would refuse when the proposal is applied. */
async function requirePayable(
  session: Session,
  { act, isOverride }: Decision,
  id: ApplicationId,
): Promise<void> {
  if (act !== 'disburse' || isOverride) return;
  const held = await heldByContract(session, id);
  if (held === null) return;
  const until = held.until && withOffset(held.until);
  throw conflict(heldBy(held.until), heldText(until), { until });
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
      return proposedRefusal(session, id);
    case 'claimed': {
      const by = { id: notTaken!.claimedBy!, login: await readLogin(session, notTaken!.claimedBy!) };
      return claimedRefusal({ by, until: notTaken!.until! });
    }
    default: {
      if (notTaken?.isPended) return conflict('pended', 'it is pended: resume it first');
      const status = facts?.status ?? null;
      return conflict(status === null ? 'unreadable' : 'illegal', illegalText(act, status));
    }
  }
}
