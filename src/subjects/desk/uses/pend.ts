/**
 * Pends an application until something that is missing has come, and resumes it (docs/operators.md, "Pended
 * applications"). Writes pends and claims, says the message in the conversation, and records the act.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { lastEventOf } from '../../applications/sql/desk/last-event.ts';
import { type SpeakingContext, sayAside } from '../../conversation/uses/say-aside.ts';
import { type Missing, MOST_MESSAGE_CHARACTERS, MOST_PENDS, type PendMessage } from '../rules/pend.ts';
import { type Claimer, takeClaim } from '../sql/claims.ts';
import { expandReviewsOf } from '../sql/expansion.ts';
import { takeConversation } from '../sql/inbox.ts';
import {
  beginPend,
  lockOpenPend,
  newestPendOf,
  pendOfRequest,
  resumePend,
  type StoredPend,
} from '../sql/pends.ts';
import { actingAs, type QueueDesk, type SpeakingDesk } from './desk-context.ts';
import { changedSince, claimedRefusal, claimRefusal } from './meanwhile.ts';
import { conflict, noApplication, otherRequest, type Refusal } from './refusal.ts';

/** What an operator asks for. */
export interface AskedPend {
  readonly applicationId: ApplicationId;
  /** The last event that the operator saw. */
  readonly decidedOn: string;
  readonly missing: readonly Missing[];
  /** The message for the applicant, in the chat; null: none. */
  readonly message: string | null;
  readonly hours: number;
  /** The Idempotency-Key, with which the same request pends once; null: there is none. */
  readonly key: string | null;
}

/**
 * Stops the time of an application, says the message, and records the act: everything or nothing. It needs the claim,
 * or takes it, and then gives it back. Throws `OperatorError` for a fault of the body, and a `Refusal`: 404 no such
 * application; 412 something has happened since; 409 it is not in review, another operator holds it, a decision is
 * proposed, or it is pended already; 400 the key was used for another request.
 */
export async function pend(
  desk: SpeakingDesk & QueueDesk,
  operatorId: number,
  asked: AskedPend,
): Promise<StoredPend> {
  const { applicationId, key } = asked;
  const text = messageOf(asked.message);
  await expandReviewsOf(desk.database, [applicationId], desk.dueHours);
  const { pended } = await acting(
    actingAs(desk, operatorId),
    (part) =>
      inTransaction(part.database, async (session) => {
        const before = key === null ? null : await pendOfRequest(session, operatorId, key);
        if (before !== null) return { pended: samePend(before, asked), isNew: false };
        const last = await lastEventOf(session, applicationId);
        if (last === null) throw noApplication();
        if (text !== null) await requireConversation(session, applicationId, operatorId);
        const message = await say({ ...part, terms: desk.terms }, applicationId, text);
        await lockOpenPend(session, applicationId);
        await requireClaim(session, applicationId, { operatorId, page: null });
        // While the item is locked, no review can move the application.
        if ((await lastEventOf(session, applicationId)) !== asked.decidedOn)
          throw await changedSince(session, applicationId);
        const { missing, hours } = asked;
        const result = await beginPend(
          session,
          { applicationId, operatorId, missing, hours, message, key },
          MOST_PENDS,
        );
        if (result !== 'begun') throw whyNot(result);
        return { pended: (await newestPendOf(session, applicationId))!, isNew: true };
      }),
    ({ isNew }) => (isNew ? { act: 'application pend', applicationId } : null),
  );
  return pended;
}

/** The pend of an earlier request with the key. The message is not compared, because its text is only in the chat. */
function samePend(before: StoredPend, { applicationId, missing }: AskedPend): StoredPend {
  const isSame =
    before.applicationId === applicationId && isDeepStrictEqual([...before.missing], [...missing]);
  if (!isSame) throw otherRequest();
  return before;
}

function whyNot(result: 'proposed' | 'pended' | 'too_many'): Refusal {
  if (result === 'proposed') return conflict('busy', 'a decision on it is proposed: undo it first');
  if (result === 'pended') return conflict('pended', 'it is pended already');
  return conflict('too_many_pends', `the application has had ${MOST_PENDS} pends: decide on it`);
}

function messageOf(message: string | null): string | null {
  if (message === null) return null;
  const text = readableText(message, MOST_MESSAGE_CHARACTERS, { hasLines: true });
  if (text !== null) return text;
  throw new OperatorError(
    `the message must have 1 to ${MOST_MESSAGE_CHARACTERS} characters, without control or hidden ones`,
  );
}

/** Two operators never answer the same person (docs/operators.md, "The inbox"). */
async function requireConversation(
  session: Transaction,
  id: ApplicationId,
  operatorId: number,
): Promise<void> {
  const { isHeld, claim } = await takeConversation(session, id, { operatorId, page: null });
  if (!isHeld) throw claimedRefusal(claim);
}

async function say(context: SpeakingContext, id: ApplicationId, text: string | null): Promise<PendMessage> {
  if (text === null) return 'none';
  try {
    return (await sayAside(context, id, text)) ? 'said' : 'no_window';
  } catch (error) {
    throw error instanceof OperatorError ? conflict('not_said', error.message) : error;
  }
}

/**
 * Ends the pend of an application, so that it waits for reviewers again, and claims it for the operator; the act is
 * recorded. If an operator has ended the pend already, the request is a repetition and only claims. Throws a `Refusal`:
 * 404 no such application; 409 it is not pended, or another operator holds it.
 */
export async function resume(
  context: OperatorContext,
  claimer: Claimer,
  applicationId: ApplicationId,
): Promise<StoredPend> {
  const { pended } = await acting(
    context,
    ({ database }) =>
      inTransaction(database, async (session) => {
        if ((await lastEventOf(session, applicationId)) === null) throw noApplication();
        const isOpen = await lockOpenPend(session, applicationId);
        const before = isOpen ? null : await newestPendOf(session, applicationId);
        if (!isOpen && before?.end !== 'resumed') throw conflict('not_pended', 'it is not pended');
        await requireClaim(session, applicationId, claimer);
        if (before !== null) return { pended: before, isNew: false };
        await resumePend(session, applicationId, claimer.operatorId);
        return { pended: (await newestPendOf(session, applicationId))!, isNew: true };
      }),
    ({ isNew }) => (isNew ? { act: 'application resume', applicationId } : null),
  );
  return pended;
}

async function requireClaim(session: Transaction, id: ApplicationId, claimer: Claimer): Promise<void> {
  const taken = await takeClaim(session, id, claimer);
  if (taken === null) throw conflict('not_in_review', 'it is not in the queue: it is not in review');
  if (taken.is !== 'held') throw await claimRefusal(session, id, taken);
}
