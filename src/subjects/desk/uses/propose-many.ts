/**
 * Proposes, looks at and undoes one decision on many applications: named ones, or a selection of the queue (D48;
 * docs/operators.md, "Proposals"). Writes proposals and `desk_requests`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { againAfterConflict, inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { readDeciders } from '../sql/deciders.ts';
import { keyedRequest, type RequestOutcome, takeRequest, undoneRequest } from '../sql/desk-requests.ts';
import { addProposals, type OperatorDecision, readSelection, undoRequest } from '../sql/propose.ts';
import { decidedFactsOf, readEvidence } from './decided-facts.ts';
import { addUp, isWorse, type SeenAgainst, type SeenMany } from './look-at-many.ts';
import {
  basisOf,
  candidatesOf,
  checkDecision,
  type Decided,
  outcomesBefore,
  type ProposingDesk,
  proposing,
} from './propose.ts';
import { NotAsSeen, Refusal } from './refusal.ts';

/** The applications of a decision on many: named, or a selection, and never both. */
export interface Many {
  readonly applications: readonly Decided[] | undefined;
  /** The id of a selection. */
  readonly selection: string | undefined;
}

/**
 * Proposes a decision on each of many applications, in one transaction, and returns what became of each. `key` as in
 * `proposeOne`; a repeated request gets the outcomes of the first one. Throws `OperatorError` for a fault of the body,
 * a `Refusal` (404) if the selection has ended, and a `NotAsSeen` (of `SeenMany`) if more speaks against the decision
 * than was shown.
 */
export async function proposeMany(
  desk: ProposingDesk,
  given: OperatorDecision,
  { seen, ...many }: Many & { readonly seen: SeenAgainst },
  key: string | null,
): Promise<readonly RequestOutcome[]> {
  const { database, vault } = desk;
  const decision = checkDecision(given);
  requireOneNaming(many);
  const request = keyedRequest(decision.makerId, key, ['many', many, decision]);
  return againAfterConflict(async () => {
    const decided = await decidedOf(database, decision.makerId, many);
    const ids = idsOf(decided ?? []);
    const evidenceOf = await readEvidence(database, ids);
    const basis = await basisOf(desk, decision.makerId, ids, request);
    if (basis.before !== null) return outcomesBefore(basis.before);
    if (decided === null) throw selectionEnded();
    const now = addUp(decision.act, basis.facts, { evidenceOf, authority: basis.maker.authority });
    if (isWorse(now, decision.reasonCode, seen)) throw new NotAsSeen(now);
    const candidates = candidatesOf(decision, decided, basis);
    const how = proposing(desk, basis, request);
    const { results } = await inTransaction(database, (session) =>
      addProposals(session, vault, decision, how, candidates),
    );
    return candidates.map((one, n): RequestOutcome => {
      const proposalId = results[n] === 'proposed' && one.objection === null ? one.proposalId : null;
      return { id: one.id, result: results[n]!, proposalId };
    });
  });
}

/**
 * Adds up what an act on these applications would be about. Throws `OperatorError` for a fault of the body, and a
 * `Refusal` (404) if the selection has ended.
 */
export async function lookAtMany(
  { database, vault }: Pick<ProposingDesk, 'database' | 'vault'>,
  by: Pick<OperatorDecision, 'act' | 'makerId'>,
  many: Many,
): Promise<SeenMany> {
  requireOneNaming(many);
  const decided = await decidedOf(database, by.makerId, many);
  if (decided === null) throw selectionEnded();
  const ids = idsOf(decided);
  const facts = await decidedFactsOf(database, ids);
  const evidenceOf = await readEvidence(database, ids);
  const authority =
    (await readDeciders(database, vault, [by.makerId])).get(by.makerId)?.authority ?? new Map();
  return addUp(by.act, facts, { evidenceOf, authority });
}

/**
 * Takes back those proposals of a request with this key that are still open. Nobody claims their applications. It waits
 * for a request that is under way; a request that comes later is refused. Returns the applications whose proposals are
 * undone, also for a repetition. Throws a `Refusal` (400) without a key.
 */
export async function undoMany(
  { database }: Pick<ProposingDesk, 'database'>,
  operatorId: number,
  key: string | null,
): Promise<readonly ApplicationId[]> {
  if (key === null) throw new Refusal(400, 'the Idempotency-Key of the decision on many is missing');
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      await takeRequest(session, undoneRequest(operatorId, key));
      return undoRequest(session, operatorId, key);
    }),
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Throws `OperatorError` if the applications are named in no way, or in both ways. */
function requireOneNaming({ applications, selection }: Many): void {
  if ((applications === undefined) === (selection === undefined))
    throw new OperatorError('name the applications either by applications or by selection');
}

/** The applications of a decision on many, each once; null: there is no such selection, or it has ended. */
async function decidedOf(
  session: Session,
  makerId: number,
  { applications, selection }: Many,
): Promise<readonly Decided[] | null> {
  if (selection === undefined) return eachOnce(applications ?? []);
  return UUID.test(selection) ? readSelection(session, selection, makerId) : null;
}

function selectionEnded(): Refusal {
  return new Refusal(404, 'there is no such selection, or it has ended: select again');
}

function idsOf(decided: readonly Decided[]): ApplicationId[] {
  return decided.map(({ id }) => id);
}

/** Drops repetitions, so that an application that is named twice counts once. */
function eachOnce(decided: readonly Decided[]): Decided[] {
  return [...new Map<ApplicationId, Decided>(decided.map((one) => [one.id, one])).values()];
}
