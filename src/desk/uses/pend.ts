/** Pends an application until something that is missing has come, and goes on with it (D48). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { lastEventOf } from '../../applications/sql/desk/last-event.ts';
import { withOffset } from '../../base/time.ts';
import { sayAside } from '../../conversation/uses/say-aside.ts';
import { acting } from '../../operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { inTransaction, type Transaction } from '../../postgres/database.ts';
import { operatorText } from '../rules/operator-text.ts';
import { type Missing, MOST_MESSAGE_CHARACTERS, MOST_PENDS, type PendMessage } from '../rules/pend.ts';
import { takeClaim } from '../sql/claims.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { beginPend, endPend, lockOpenPend, newestPendOf, type StoredPend } from '../sql/pends.ts';
import { changedSince } from './changed-since.ts';
import { actingAs, type Desk, type QueueDesk } from './desk-context.ts';
import { noApplication, Refusal } from './refusal.ts';

export type { StoredPend };

/** What an operator asks for. */
export interface AskedPend {
  readonly applicationId: ApplicationId;
  /** The last event that it was decided on. */
  readonly decidedOn: string;
  readonly missing: readonly Missing[];
  /** For the applicant, in the chat; null: nothing is said. */
  readonly message: string | null;
  readonly hours: number;
}

/**
 * Stops the time of an application, says the message, and records the act: all of it or nothing. It needs the claim, or
 * takes it, and gives it back. Throws `OperatorError` for a fault of the body, and a `Refusal`: 404 no such
 * application; 412 something happened since; 409 it is not in review, another operator claims it, a decision is
 * proposed, or it is pended already.
 */
export async function pend(
  desk: Desk & QueueDesk,
  operatorId: number,
  asked: AskedPend,
): Promise<StoredPend> {
  const { applicationId } = asked;
  const text = messageOf(asked.message);
  await expandReviewsOf(desk.database, [applicationId], desk.dueHours);
  return acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const last = await lastEventOf(session, applicationId);
        if (last === null) throw noApplication();
        const message = await say(part, applicationId, text);
        await lockOpenPend(session, applicationId);
        await requireClaim(session, applicationId, operatorId);
        // While the item is locked no review moves the application.
        if ((await lastEventOf(session, applicationId)) !== asked.decidedOn)
          throw await changedSince(session, applicationId);
        const { missing, hours } = asked;
        const result = await beginPend(
          session,
          { applicationId, operatorId, missing, hours, message },
          MOST_PENDS,
        );
        if (result !== 'begun') throw new Refusal(409, WHY_NOT[result]);
        return (await newestPendOf(session, applicationId))!;
      }),
    () => ({ act: 'application pend', applicationId }),
  );
}

const WHY_NOT = {
  proposed: 'a decision on it is proposed: undo it first',
  pended: 'it is pended already',
  too_many: `the application has had ${MOST_PENDS} pends: decide on it`,
} as const;

function messageOf(message: string | null): string | null {
  if (message === null) return null;
  const text = operatorText(message, MOST_MESSAGE_CHARACTERS);
  if (text !== null) return text;
  throw new OperatorError(
    `the message must have 1 to ${MOST_MESSAGE_CHARACTERS} characters, without control or hidden ones`,
  );
}

async function say(context: OperatorContext, id: ApplicationId, text: string | null): Promise<PendMessage> {
  if (text === null) return 'none';
  try {
    return (await sayAside(context, id, text)) ? 'said' : 'no_window';
  } catch (error) {
    throw error instanceof OperatorError ? new Refusal(409, error.message) : error;
  }
}

/**
 * Ends the pend of an application, which waits for reviewers again, and claims it for the operator; the act is
 * recorded. Throws a `Refusal`: 404 no such application; 409 it is not pended, or another operator claims it.
 */
export function resume(
  context: OperatorContext,
  operatorId: number,
  applicationId: ApplicationId,
): Promise<StoredPend> {
  return acting(
    context,
    ({ database }) =>
      inTransaction(database, async (session) => {
        if ((await lastEventOf(session, applicationId)) === null) throw noApplication();
        if (!(await lockOpenPend(session, applicationId))) throw new Refusal(409, 'it is not pended');
        await requireClaim(session, applicationId, operatorId);
        await endPend(session, applicationId, 'resumed');
        return (await newestPendOf(session, applicationId))!;
      }),
    () => ({ act: 'application resume', applicationId }),
  );
}

async function requireClaim(session: Transaction, id: ApplicationId, operatorId: number): Promise<void> {
  const taken = await takeClaim(session, id, operatorId);
  if (taken === null) throw new Refusal(409, 'it is not in the queue: it is not in review');
  if (taken.isHeld) return;
  const { by, until } = taken.claim;
  throw new Refusal(409, `${by.login} reviews it now`, { facts: { by, until: withOffset(until) } });
}
