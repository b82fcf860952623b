/**
 * Draws a random share of the applied decisions for a second look, and takes the word of an admin who had no part in
 * them (docs/operators.md, "The lead's view and second looks"). Writes `second_looks` and counts decisions; uses random
 * numbers.
 */
import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isAgainstScore } from '../../../domain/application/against-score.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { type Database, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { readDecisionFacts } from '../../applications/sql/desk/decision-facts.ts';
import {
  addSecondLook,
  countDecision,
  type Drawn,
  lockLook,
  type WaitingLook,
  waitingLooks,
  writeLook,
} from '../sql/second-looks.ts';
import type { Desk } from './desk-context.ts';
import { conflict, Refusal } from './refusal.ts';

/** The desk, with the value of SECOND_LOOK_SHARE. */
export interface LookingDesk extends Desk {
  readonly lookShare: number;
}

const DRAWS = 2 ** 32;

/**
 * Counts a decision and draws whether it gets a second look, in the transaction that applies it. `score`: the
 * application's, if it was in review, else null. `share`: from 0 (none) to 1 (all).
 */
export async function noteDecision(
  session: Transaction,
  decision: Drawn & { readonly score: number | null },
  share: number,
): Promise<void> {
  const { makerId, act, reasonCode, score } = decision;
  await countDecision(session, {
    operatorId: makerId,
    act,
    reasonCode,
    isAgainstScore: isAgainstScore(act, score),
  });
  if (randomInt(DRAWS) < share * DRAWS) await addSecondLook(session, decision);
}

/** A decision that waits for a look, without who decided. */
export interface ShownLook extends WaitingLook {
  /** null, like the next one: the application is deleted, or its stored data cannot be read. */
  readonly score: number | null;
  readonly decision: 'approved' | 'in_review' | 'rejected' | null;
}

const MOST_SHOWN = 100;

/** The oldest 100 decisions that wait for a look and that this admin may look at. */
export function drawnFor(database: Database, lookerId: number): Promise<WaitingLook[]> {
  return waitingLooks(database, lookerId, MOST_SHOWN);
}

/** The same, with what the score said. */
export async function withScores(database: Database, looks: readonly WaitingLook[]): Promise<ShownLook[]> {
  const ids: ApplicationId[] = [...new Set(looks.map(({ applicationId }) => applicationId))];
  const facts = await readDecisionFacts(database, ids);
  return looks.map((look) => {
    const { score, decision } = facts.get(look.applicationId) ?? { score: null, decision: null };
    return { ...look, score, decision };
  });
}

const MOST_LOOK_CHARACTERS = 500;

/**
 * Stores whether the admin would have decided in the same way, and records the act. A repetition changes nothing.
 * Throws `OperatorError` for a fault of the note, and a `Refusal`: 404 the decision was not drawn; 403 the admin made
 * or confirmed it; 409 another admin has looked.
 */
export async function look(
  context: OperatorContext,
  lookerId: number,
  { proposalId, agrees, note: given }: { proposalId: number; agrees: boolean; note: string },
): Promise<void> {
  const note = given.trim() === '' ? null : readableText(given, MOST_LOOK_CHARACTERS, { hasLines: true });
  if (note === null && given.trim() !== '')
    throw new OperatorError(
      `the note must have at most ${MOST_LOOK_CHARACTERS} characters, without control or hidden ones`,
    );
  await acting(
    context,
    ({ database }) =>
      inTransaction(database, async (session) => {
        const drawn = await lockLook(session, proposalId);
        if (drawn === null) throw noLook();
        if (drawn.makerId === lookerId || drawn.checkerId === lookerId)
          throw new Refusal(403, 'you decided it: another admin has to look');
        const said = { lookerId, agrees, note };
        if (isDeepStrictEqual(drawn.look, said)) return null;
        if (drawn.look !== null) throw conflict('looked_at', 'somebody has looked at it already');
        await writeLook(session, proposalId, said);
        return drawn.applicationId;
      }),
    (applicationId) =>
      applicationId && { act: 'second look', target: `proposal ${proposalId}`, applicationId },
  );
}

/** The refusal for a decision that was not drawn. */
export function noLook(): Refusal {
  return new Refusal(404, 'no such decision waits for a second look');
}
