/** What the score said of applications. */
import type { Session } from '../../../postgres/database.ts';
import { type ApplicationId, partitionOf, toApplicationId } from '../../rules/ids.ts';
import type { Decision } from '../../rules/scorecard.ts';
import { byPartitions } from '../partition-runs.ts';

const SCORES = 'SELECT a.id, a.score, a.decision FROM applications_of($1::bigint[]) AS a';

/** The score and its decision of each of these applications; null where the stored data cannot be read. */
export async function readScores(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, { readonly score: number | null; readonly decision: Decision | null }>> {
  const scores = new Map<ApplicationId, { score: number | null; decision: Decision | null }>();
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<{ id: string; score: number | null; decision: Decision | null }>(
      SCORES,
      [some],
    );
    for (const { id, score, decision } of rows) scores.set(toApplicationId(id), { score, decision });
  }
  return scores;
}
