/**
 * Claims and selections of the review queue (D48; docs/operators.md, "The review queue"). Reads and writes
 * `review_items`, claims, `selections` and `desk_requests`. `show-queue.ts` reads its pages.
 */
import { randomUUID } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { againAfterConflict, type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { MOST_COUNTED, type QueueFilter, type QueueOrder } from '../rules/queue.ts';
import {
  type Claimer,
  dropClaim,
  leavePage,
  pageHasLeft,
  type StoredClaim,
  takeClaim,
} from '../sql/claims.ts';
import { keepClaimed, keyedRequest, takeRequest } from '../sql/desk-requests.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { claimNext as claimFree, makeSelection } from '../sql/queue.ts';
import type { QueueDesk } from './desk-context.ts';
import { claimRefusal } from './meanwhile.ts';
import { conflict, Refusal, spentKey } from './refusal.ts';

export { type Claimer, dropClaim, leavePage };

/**
 * Claims an application, or renews the claim. Throws a `Refusal`: 404 it is not in review; 409 with who holds it, or
 * who has proposed a decision on it.
 */
export async function claim(
  { database, dueHours }: QueueDesk,
  id: ApplicationId,
  claimer: Claimer,
): Promise<StoredClaim> {
  await expandReviewsOf(database, [id], dueHours);
  const taken = await takeClaim(database, id, claimer);
  if (taken === null) throw new Refusal(404, 'there is no such application in review');
  if (taken.is === 'held') return taken.claim;
  throw await claimRefusal(database, id, taken);
}

/**
 * Claims the first application in the order that nobody holds; null: there is none, or the page was closed. `key`: the
 * Idempotency-Key; a repetition renews the claim of the first request, and claims another application only if that
 * claim is lost. Throws a `Refusal` if the key was used for another request.
 */
export function claimNext(
  database: Database,
  {
    filter,
    order,
    key,
  }: { readonly filter: QueueFilter; readonly order: QueueOrder; readonly key: string | null },
  claimer: Claimer,
): ReturnType<typeof claimFree> {
  const request = keyedRequest(claimer.operatorId, key, ['claim next', order, filter]);
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      if (await pageHasLeft(session, claimer)) return null;
      if (request === null) return claimFree(session, filter, order, claimer);
      const before = await takeRequest(session, request);
      if (before === 'other' || before === 'undone') throw spentKey(before);
      const id = before === 'new' ? undefined : before.outcomes[0]?.id;
      const again = id === undefined ? null : await takeClaim(session, id, claimer);
      if (id !== undefined && again?.is === 'held') return { id, claim: again.claim };
      const next = await claimFree(session, filter, order, claimer);
      if (next !== null) await keepClaimed(session, request, next.id);
      return next;
    }),
  );
}

/** Keeps what fits now for ten minutes. Throws a `Refusal` (409) if more than `MOST_COUNTED` fit. */
export async function select(
  database: Database,
  filter: QueueFilter,
  operatorId: number,
): Promise<{ readonly selection: string; readonly count: number; readonly endsAt: Date }> {
  const selection = randomUUID();
  const made = await makeSelection(database, filter, operatorId, selection);
  if (made === null) throw conflict('too_many_match', `more than ${MOST_COUNTED} match: narrow the filters`);
  return { selection, ...made };
}
