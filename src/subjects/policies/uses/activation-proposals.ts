/**
 * Activations at the console need four eyes (D48, D51; docs/policy.md, "Four eyes"): an admin proposes one, and another
 * admin confirms it, which activates the version in the same transaction. Each act is recorded. Writes by
 * `sql/proposals.ts` and `sql/policies.ts`.
 */
import { documentOf, type PolicyContent } from '../../../domain/scorecard/content.ts';
import { type Finding, findingsOf } from '../../../domain/scorecard/findings.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import {
  type Database,
  inTransaction,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { checkReason, type OperatorContext } from '../../../program/operations/operator-context.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import type { Vault } from '../../../seal/vault.ts';
import { areAccepted, RETURNED, type ReturnedFor } from '../rules/proposal.ts';
import { newestBacktestsOf } from '../sql/backtests.ts';
import { digestOf } from '../sql/digest.ts';
import {
  activatePolicy,
  addPolicy,
  dropDraft,
  findPolicy,
  listPolicies,
  lockDraft,
  type PolicyVersion,
  readLive,
  readToday,
} from '../sql/policies.ts';
import {
  addProposal,
  endProposal,
  listProposals,
  lockProposal,
  openProposalOf,
  type PolicyProposal,
} from '../sql/proposals.ts';
import { PolicyRefusal } from './refusal.ts';
import type { RealFactors } from './versions.ts';

/** What the console's uses of policies get. */
export interface PolicyDesk {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** The value of UNDO_SECONDS. */
  readonly undoSeconds: number;
  /** The ids of those of the operators who are admins. Nobody changes their accounts until the transaction ends. */
  readonly holdAdmins: (
    session: Transaction,
    vault: Vault,
    ids: readonly number[],
  ) => Promise<ReadonlySet<number>>;
  /** What the terms of loans really cost on a day, `YYYY-MM-DD` (D45). */
  readonly realFactorsOn: (today: string) => Promise<RealFactors>;
}

/** The desk with the operator's name, as the history and the record of acts have it. */
export function actingAs({ database, vault, clock }: PolicyDesk, operatorId: number): OperatorContext {
  return { database, vault, clock, actor: actorOf(operatorId) };
}

/** How the history names an operator with an account. */
export const actorOf = (operatorId: number) => `operator ${operatorId}`;

/** A version as it could be activated. */
interface Candidate {
  readonly content: PolicyContent;
  /** Its policy's id; null: it is a draft. */
  readonly policyId: number | null;
  readonly listed: PolicyVersion;
  /** The codes of its warnings: each has to be accepted by name. */
  readonly warnings: readonly string[];
}

/** Reads a version; its draft is locked where the session is a transaction. null: there is none. */
async function candidateOf(
  desk: PolicyDesk,
  session: Transaction,
  version: string,
): Promise<Candidate | null> {
  const listed = (await listPolicies(session)).find((one) => one.version === version);
  if (listed === undefined) return null;
  const policy = await findPolicy(session, version);
  if (policy !== null)
    return { content: policy.content, policyId: policy.id, listed, warnings: listed.accepted };
  const content = await lockDraft(session, version);
  if (content === null) return null;
  const findings = await findingsNow(desk, session, content);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new PolicyRefusal('refused', `${errors[0]!.place}: ${errors[0]!.text}`, { findings: errors });
  return { content, policyId: null, listed, warnings: [...new Set(findings.map(({ code }) => code))] };
}

/** The findings of a policy as it is now. */
export async function findingsNow(
  { realFactorsOn }: Pick<PolicyDesk, 'realFactorsOn'>,
  session: Session,
  content: PolicyContent,
): Promise<Finding[]> {
  const today = await readToday(session);
  return findingsOf(documentOf(content), { today, realFactors: await realFactorsOn(today) });
}

/**
 * Proposes to activate a version, or an older one again. `accept` names each of its warnings. Throws `OperatorError`
 * for a reason that is not one line, and a `PolicyRefusal`: 404 there is no such version; 409 it is live, withdrawn,
 * not valid yet or proposed already, or a warning is not accepted.
 */
export function proposeActivation(
  desk: PolicyDesk,
  operatorId: number,
  asked: { readonly version: string; readonly reason: string; readonly accept: readonly string[] },
): Promise<PolicyProposal> {
  const { version, accept } = asked;
  const reason = checkReason(asked.reason);
  return acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const found = await candidateOf(desk, session, version);
        if (found === null) throw noVersion();
        const live = await readLive(session);
        await requireActivatable(session, found, live?.content.version ?? null);
        requireAccepted(found.warnings, accept);
        const open = await openProposalOf(session, desk.undoSeconds, version);
        if (open !== null)
          throw new PolicyRefusal('proposed', `${open.maker.login} has proposed it already`, {
            by: open.maker,
          });
        const id = await addProposal(session, {
          ...{ version, reason, makerId: operatorId, accepted: found.warnings },
          sha256: digestOf(found.content),
          afterActivation: live?.activationId ?? 0,
        });
        return (await lockProposal(session, desk.undoSeconds, id))!;
      }),
    () => ({ act: 'policy propose', target: `policy ${version}`, reason }),
  );
}

async function requireActivatable(
  session: Session,
  { content, listed }: Candidate,
  live: string | null,
): Promise<void> {
  const { version } = listed;
  if (version === live) throw new PolicyRefusal('live', `${version} is live already`);
  if (listed.isWithdrawn) throw new PolicyRefusal('withdrawn', `${version} was withdrawn`);
  const { valid_from: from } = documentOf(content);
  if (typeof from === 'string' && from > (await readToday(session)))
    throw new PolicyRefusal('not_valid_yet', `${version} may be activated from ${from} on (UTC)`, { from });
}

function requireAccepted(warnings: readonly string[], accept: readonly string[]): void {
  if (areAccepted(warnings, accept)) return;
  throw new PolicyRefusal(
    'not_accepted',
    `each warning is accepted by its name: ${warnings.join(', ') || 'there is none'}`,
    {
      codes: warnings,
    },
  );
}

const noVersion = () => new PolicyRefusal(404, 'there is no such version');

/** What a transaction about a proposal came to. */
interface Ended {
  readonly proposal: PolicyProposal;
  /** false: a repetition, or nothing was done. */
  readonly isNew: boolean;
  /** Why it went back to its maker; null: it did not. */
  readonly returned: ReturnedFor | null;
}

/**
 * A second admin confirms a proposal, which activates its version: from the commit on no batch begins with another one.
 * A repetition by the same operator changes nothing. Throws a `PolicyRefusal`: 404 there is none; 403 it is the
 * operator's own; 409 it has ended, may still be undone, or a warning is not accepted by name. Where something changed
 * meanwhile nothing is activated, the proposal goes back, and the 409 says why.
 */
export async function confirmActivation(
  desk: PolicyDesk,
  operatorId: number,
  id: number,
  accept: readonly string[],
): Promise<PolicyProposal> {
  const confirm = () =>
    acting(
      actingAs(desk, operatorId),
      (part) =>
        inTransaction(part.database, (session) => confirmIn(desk, session, { operatorId, id, accept })),
      ({ proposal, isNew, returned }) =>
        isNew
          ? {
              act: returned === null ? 'policy confirm' : 'policy return',
              target: `policy ${proposal.version}`,
              reason: returned === null ? proposal.reason : RETURNED[returned],
            }
          : null,
    );
  // A withdrawal that was committed after the look undoes the transaction: the next look sees it.
  const { proposal, returned } = await confirm().catch((error: unknown) => {
    if (errorCode(error) !== 'VN006') throw error;
    return confirm();
  });
  if (returned === null) return proposal;
  throw new PolicyRefusal(returned, `nothing was activated: ${RETURNED[returned]}`, { by: proposal.maker });
}

async function confirmIn(
  desk: PolicyDesk,
  session: Transaction,
  {
    operatorId,
    id,
    accept,
  }: { readonly operatorId: number; readonly id: number; readonly accept: readonly string[] },
): Promise<Ended> {
  const proposal = await lockedFor(desk, session, operatorId, id);
  const again = async (isNew: boolean, returned: ReturnedFor | null = null): Promise<Ended> => ({
    ...{ isNew, returned },
    proposal: (await lockProposal(session, desk.undoSeconds, id))!,
  });
  if (proposal.state === 'activated' && proposal.second?.id === operatorId) return again(false);
  const goBack = async (why: ReturnedFor) => {
    await endProposal(session, id, { state: 'returned', outcome: why });
    return again(true, why);
  };
  if (proposal.outcome === 'expired' && proposal.endedAt === null) return goBack('expired');
  requireOpen(proposal);
  if (!proposal.isDue)
    throw new PolicyRefusal(
      'too_soon',
      `${proposal.maker.login} may still undo it: confirm it in some seconds`,
      {
        until: withOffset(proposal.dueAt),
      },
    );
  requireAccepted(proposal.accepted, accept);
  const admins = await desk.holdAdmins(session, desk.vault, [proposal.maker.id, operatorId]);
  if (!admins.has(operatorId)) throw new PolicyRefusal(403, 'this needs the role admin');
  if (!admins.has(proposal.maker.id)) return goBack('maker');
  const found = await candidateOf(desk, session, proposal.version);
  if (found === null || found.listed.isWithdrawn) return goBack('withdrawn');
  if (digestOf(found.content) !== proposal.sha256) return goBack('draft_changed');
  if (!areAccepted(found.warnings, proposal.accepted)) return goBack('warnings_changed');
  const isDone = await activateFound(session, proposal, found, operatorId);
  if (!isDone) return goBack('other_live');
  await endProposal(session, id, { state: 'activated', secondId: operatorId });
  await addOperatorEvents(session, chainKeysOf(desk.vault), actorOf(proposal.maker.id), [
    {
      act: 'policy activate',
      target: `policy ${proposal.version}, second ${actorOf(operatorId)}`,
      reason: proposal.reason,
    },
  ]);
  return again(true);
}

/** `activate_policy` found another live version after the look: what is done is undone, and done again. */
const againLater = () =>
  Object.assign(new Error('another version was activated at the same moment'), { code: 'VN001' });

/**
 * Makes a draft ready, and activates; the activation rests on the newest backtest of this version and content. False:
 * another version was activated since the proposal.
 */
async function activateFound(
  session: Transaction,
  { version, maker, reason, accepted, afterActivation }: PolicyProposal,
  { content, policyId }: Candidate,
  secondId: number,
): Promise<boolean> {
  const by = actorOf(maker.id);
  if (((await readLive(session))?.activationId ?? 0) !== afterActivation) return false;
  let id = policyId;
  if (id === null) {
    ({ id } = (await addPolicy(session, content, { by, accepted })).policy);
    await dropDraft(session, version);
  }
  // Both admins have read the newest backtest at the console, where it is of this very content.
  const [tried] = await newestBacktestsOf(session, version, 1);
  const backtest = tried?.sha256 === digestOf(content) ? tried.id : null;
  const isDone = await activatePolicy(session, {
    ...{ policyId: id, after: afterActivation === 0 ? null : afterActivation },
    ...{ by, second: actorOf(secondId), reason, accepted, backtest },
  });
  if (!isDone) throw againLater();
  return true;
}

async function lockedFor(
  desk: PolicyDesk,
  session: Transaction,
  operatorId: number,
  id: number,
): Promise<PolicyProposal> {
  const proposal = await lockProposal(session, desk.undoSeconds, id);
  if (proposal === null) throw new PolicyRefusal(404, 'there is no such proposal');
  if (proposal.maker.id === operatorId)
    throw new PolicyRefusal(403, 'it is your own: another admin confirms or declines it');
  return proposal;
}

function requireOpen({ state, second, maker }: PolicyProposal): void {
  if (state === 'proposed') return;
  throw new PolicyRefusal('not_open', `the proposal is ${state} already`, { state, by: second ?? maker });
}

/** The maker takes a proposal back. A repetition changes nothing. Throws as `confirmActivation`; 403: another one's. */
export async function undoActivation(
  desk: PolicyDesk,
  operatorId: number,
  id: number,
): Promise<PolicyProposal> {
  const { proposal } = await acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = await lockProposal(session, desk.undoSeconds, id);
        if (before === null) throw new PolicyRefusal(404, 'there is no such proposal');
        if (before.maker.id !== operatorId)
          throw new PolicyRefusal(403, `${before.maker.login} made it: only the maker undoes a proposal`);
        if (before.state === 'undone') return { proposal: before, isNew: false };
        requireOpen(before);
        await endProposal(session, id, { state: 'undone' });
        return { proposal: (await lockProposal(session, desk.undoSeconds, id))!, isNew: true };
      }),
    ({ proposal, isNew }) => (isNew ? { act: 'policy undo', target: `policy ${proposal.version}` } : null),
  );
  return proposal;
}

/** A second admin declines a proposal with a reason. Throws as `confirmActivation`. */
export async function declineActivation(
  desk: PolicyDesk,
  operatorId: number,
  id: number,
  given: string,
): Promise<PolicyProposal> {
  const reason = checkReason(given);
  const { proposal } = await acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = await lockedFor(desk, session, operatorId, id);
        if (before.state === 'declined' && before.second?.id === operatorId)
          return { proposal: before, isNew: false };
        requireOpen(before);
        await endProposal(session, id, { state: 'declined', secondId: operatorId, outcome: reason });
        return { proposal: (await lockProposal(session, desk.undoSeconds, id))!, isNew: true };
      }),
    ({ proposal, isNew }) =>
      isNew ? { act: 'policy decline', target: `policy ${proposal.version}`, reason } : null,
  );
  return proposal;
}

/** The proposals that a page shows. */
const MOST_SHOWN = 50;

/** The newest proposals, the last one first. */
export function proposalsOf({ database, undoSeconds }: PolicyDesk): Promise<PolicyProposal[]> {
  return listProposals(database, undoSeconds, MOST_SHOWN);
}
