/** One decision on many applications: those that are named, or a selection of the queue. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { keyedRequest, type Outcome, takeRequest, undoneRequest } from '../sql/desk-requests.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { type Decision, readSelection } from '../sql/propose.ts';
import { undoRequest } from '../sql/undo-many.ts';
import { addUp, isWorse, type SeenAgainst, type SeenMany } from './look-at-many.ts';
import { checkDecision, type Decided, propose } from './propose.ts';
import { once, type ProposingDesk } from './propose-one.ts';
import { NotAsSeen, Refusal } from './refusal.ts';

/** Exactly one of the two. */
export interface Many {
  readonly applications: readonly Decided[] | undefined;
  /** The id of a selection. */
  readonly selection: string | undefined;
}

/**
 * Proposes a decision on each of many applications, in one transaction, and returns what became of each. `key` as in
 * `proposeOne`; the outcomes of a repeated request are those of the first one. Throws `OperatorError` for a fault of
 * the body, a `Refusal` (404) where the selection has ended, and a `NotAsSeen` (of `SeenMany`) where more speaks
 * against it than was seen.
 */
export async function proposeMany(
  { database, vault, undoSeconds, dueHours }: ProposingDesk,
  given: Decision,
  { seen, ...many }: Many & { readonly seen: SeenAgainst },
  key: string | null,
): Promise<readonly Outcome[]> {
  const decision = checkDecision(given);
  requireOneNaming(many);
  const request = keyedRequest(decision.makerId, key, ['many', many, decision]);
  // What a selection names is in the queue.
  const named = (many.applications ?? []).map(({ id }) => id);
  await expandReviewsOf(database, named, dueHours);
  const outcomes = await againAfterConflict(() =>
    inTransaction(database, (session) =>
      once(session, request, async () => {
        const decided = await decidedOf(session, decision.makerId, many);
        const now = await addUp(session, vault, decision, idsOf(decided));
        if (isWorse(now, decision.reasonCode, seen)) throw new NotAsSeen(now);
        return propose(session, decision, { vault, undoSeconds, isOfMany: true }, decided);
      }),
    ),
  );
  return outcomes;
}

/**
 * Adds up what an act on these applications would be about. Throws `OperatorError` for a fault of the body, and a
 * `Refusal` (404) where the selection has ended.
 */
export async function lookAtMany(
  { database, vault }: Pick<ProposingDesk, 'database' | 'vault'>,
  by: Pick<Decision, 'act' | 'makerId'>,
  many: Many,
): Promise<SeenMany> {
  requireOneNaming(many);
  return addUp(database, vault, by, idsOf(await decidedOf(database, by.makerId, many)));
}

/**
 * Takes the proposals back that a request with this key has made and that are still open. Nobody claims their
 * applications. It waits for a request that is under way; one that comes later is refused. Returns the applications
 * whose proposals are undone, also to a repetition. Throws a `Refusal` (400) without a key.
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

/** Throws `OperatorError` where the applications are named in no way, or in both. */
export function requireOneNaming({ applications, selection }: Many): void {
  if ((applications === undefined) === (selection === undefined))
    throw new OperatorError('name the applications either by applications or by selection');
}

/** The applications of a decision on many, each once. Throws a `Refusal` (404) where the selection has ended. */
export async function decidedOf(
  session: Session,
  makerId: number,
  { applications, selection }: Many,
): Promise<readonly Decided[]> {
  if (selection === undefined) return eachOnce(applications ?? []);
  const selected = UUID.test(selection) ? await readSelection(session, selection, makerId) : null;
  if (selected === null) throw new Refusal(404, 'there is no such selection, or it has ended: select again');
  return selected;
}

function idsOf(decided: readonly Decided[]): ApplicationId[] {
  return decided.map(({ id }) => id);
}

/** An application that is named twice counts once. */
function eachOnce(decided: readonly Decided[]): Decided[] {
  return [...new Map<ApplicationId, Decided>(decided.map((one) => [one.id, one])).values()];
}
