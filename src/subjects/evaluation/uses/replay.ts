/**
 * Decides stored applications again, each by the policy that decided it, and compares (D30, D51): score, decision and
 * the points of each criterion. Reads only.
 */
import { type ApplicationId, applicationIdAt } from '../../../domain/application/ids.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import { CRITERIA } from '../../../domain/scorecard/scorecard.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { decidedBatches, readCards } from '../sql/decided-batches.ts';

export interface Replayed {
  readonly checked: number;
  readonly equal: number;
  /** Applications that come out otherwise, or whose facts are damaged; the first `MOST_DIFFERENT` of them. */
  readonly differ: readonly ApplicationId[];
}

/** The ids that a replay names. */
export const MOST_DIFFERENT = 1_000;

/** Replays what was registered on or after the day `since`, `YYYY-MM-DD`; null: everything. */
export async function replay(session: Session, since: string | null): Promise<Replayed> {
  const cards = await readCards(session);
  let [checked, equal] = [0, 0];
  const differ: ApplicationId[] = [];
  const decided = new DecidedFacts();
  for await (const page of decidedBatches(session, since)) {
    for (const { id, policyId, facts } of page) {
      const card = cards.get(policyId);
      for (let position = decided.beginText(facts) - 1; position >= 0; position -= 1) {
        const found = decided.read(position);
        if (found === 'none') continue;
        checked += 1;
        if (card !== undefined && found === 'read' && isEqual(decided, card)) equal += 1;
        else if (differ.length < MOST_DIFFERENT) differ.push(applicationIdAt(id, position));
      }
    }
  }
  return { checked, equal, differ };
}

function isEqual(decided: DecidedFacts, card: Card): boolean {
  const { facts, score, decision } = decided;
  const again = card.decide(facts);
  return (
    again.score === score &&
    again.decision === decision &&
    CRITERIA.every((criterion, index) => again.points[criterion] === decided.pointsOf(index))
  );
}
