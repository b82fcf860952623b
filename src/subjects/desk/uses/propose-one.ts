/**
 * Makes a proposal of a decision on one application, or refuses it with what stands in its way (D48; docs/operators.md,
 * "Proposals"). Writes proposals and `desk_requests`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { againAfterConflict } from '../../../ground/postgres/database.ts';
import { readLogin } from '../../../program/operations/sql/logins.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { proposedLines } from '../../signing/uses/proposed-lines.ts';
import { type BulkResult, heldBy, heldText, illegalText } from '../rules/proposal.ts';
import { keyedRequest } from '../sql/desk-requests.ts';
import { readProposal, type StoredProposal } from '../sql/proposals.ts';
import { addProposal, type Candidate, type Proposed, type Proposing, type Stand } from '../sql/propose.ts';
import { changedSince, claimedRefusal, proposedRefusal } from './meanwhile.ts';
import {
  basisOf,
  candidatesOf,
  checkDecision,
  type Decided,
  type OperatorDecision,
  outcomesBefore,
  type ProposingDesk,
  proposing,
} from './propose.ts';
import { conflict, noApplication, type Refusal } from './refusal.ts';

/** A proposal as it is at `now`, a time of the database's clock. */
interface Made {
  readonly proposal: StoredProposal;
  readonly now: Date;
}

/**
 * Proposes a decision on an application. `key`: the Idempotency-Key; the same request with it gets the same proposal,
 * as it is now. Throws `OperatorError` for a fault of the body, and a `Refusal`: 404 no such application; 412 something
 * has happened since; 409 another proposal is open, another operator holds it, or the act is illegal.
 */
export async function proposeOne(
  desk: ProposingDesk,
  given: OperatorDecision,
  decided: Decided,
  key: string | null,
): Promise<Made> {
  const { database, vault } = desk;
  const { id } = decided;
  const decision = checkDecision(given);
  const request = keyedRequest(decision.makerId, key, ['one', id, decision]);
  return againAfterConflict(async () => {
    const basis = await basisOf(desk, decision.makerId, [id], request);
    const { before, maker, facts } = basis;
    if (before !== null) {
      const [outcome] = outcomesBefore(before);
      return { proposal: (await readProposal(database, outcome!.proposalId!))!, now: basis.now };
    }
    const candidate = candidatesOf(decision, [decided], basis)[0]!;
    const status = facts.get(id)?.status ?? null;
    if (candidate.objection !== null)
      throw await refusalOf(database, decision, id, { result: candidate.objection, status });
    const lines = await requirePayable(desk, decision, candidate);
    const how = proposing(desk, basis, request);
    const proposed = { ...candidate, lines };
    const made = await addProposal(database, vault, decision, how, proposed);
    const [result] = made.results;
    if (result === 'proposed')
      return { proposal: newProposal(decision, proposed, maker, how), now: made.now };
    throw await refusalOf(database, decision, id, { result: result!, status, obstacle: made });
  });
}

/** A proposal as it has just been made. */
function newProposal(
  { act, reasonCode, reason, isOverride }: OperatorDecision,
  { id, proposalId, needsSecond, lines }: Extract<Candidate, { objection: null }>,
  maker: Stand['maker'],
  { at, applyAt }: Proposing,
): StoredProposal {
  return {
    id: proposalId,
    applicationId: id,
    act,
    reasonCode,
    reason,
    isOverride,
    needsSecond,
    lines,
    maker: { id: maker.id, login: maker.login },
    createdAt: at,
    applyAt,
    state: 'proposed',
    second: null,
    confirmedAt: null,
    endedAt: null,
    outcome: null,
    returnedFor: null,
  };
}

/**
 * Refuses a payment at once if it would be refused when the proposal is applied. Returns the sealed lines for the
 * proposal; null: it has none.
 */
async function requirePayable(
  { database, vault, terms }: ProposingDesk,
  { act, isOverride, lines: given }: OperatorDecision,
  { id, proposalId, signedAt }: Extract<Candidate, { objection: null }>,
): Promise<Buffer | null> {
  if (act !== 'disburse') return null;
  const held = isOverride ? null : await heldByContract(database, id);
  if (held !== null) {
    const until = held.until && withOffset(held.until);
    throw conflict(heldBy(held.until), heldText(until), { until });
  }
  // Without a signature there is no list to pay by. A signature that comes later returns the proposal.
  if (signedAt === null && given.length === 0) return null;
  const lines = await proposedLines({ session: database, vault, terms }, id, proposalId, given);
  const [objection] = lines.objections;
  if (objection !== undefined && !isOverride) throw conflict(objection, lines.text);
  return lines.sealed;
}

/** The refusal of a proposal. `obstacle`: what stood in the way when it was written. */
async function refusalOf(
  session: Session,
  { act }: OperatorDecision,
  id: ApplicationId,
  {
    result,
    status,
    obstacle,
  }: {
    readonly result: BulkResult;
    readonly status: ApplicationStatus | null;
    readonly obstacle?: Pick<Proposed, 'claimedBy' | 'claimedUntil'>;
  },
): Promise<Refusal> {
  switch (result) {
    case 'unknown':
      return noApplication();
    case 'changed':
      return changedSince(session, id);
    case 'already_proposed':
      return proposedRefusal(session, id);
    case 'claimed': {
      const { claimedBy, claimedUntil } = obstacle!;
      const by = { id: claimedBy!, login: await readLogin(session, claimedBy!) };
      return claimedRefusal({ by, until: claimedUntil! });
    }
    default:
      if (obstacle !== undefined) return conflict('pended', 'it is pended: resume it first');
      return conflict(status === null ? 'unreadable' : 'illegal', illegalText(act, status));
  }
}
