/**
 * What `serve` and `worker` run to try policies: the upkeep counts for the shadows and for the drift, and deletes
 * labels with their applications.
 */
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { deleteLabels } from './sql/labels.ts';
import { followDecisions } from './uses/follow-decisions.ts';
import { type ShadowContext, shadowFollowers } from './uses/shadows.ts';
import { computeDrift, driftFollower } from './uses/watch-drift.ts';

/**
 * Counts what came in, for all who follow it. Any number of processes may do this at once: each batch counts once.
 * `failed` hears of a shadow whose card threw.
 */
export async function countDecisions(
  context: ShadowContext,
  failed: ServiceContext['failed'],
): Promise<void> {
  // Shadows count where the drift cannot, and the other way round.
  const [shadows, drift] = await Promise.allSettled([
    shadowFollowers(context, failed),
    driftFollower(context.database),
  ]);
  await followDecisions(context, [
    ...(shadows.status === 'fulfilled' ? shadows.value : []),
    ...(drift.status === 'fulfilled' && drift.value !== null ? [drift.value] : []),
  ]);
  await computeDrift(context.database);
  for (const one of [shadows, drift]) if (one.status === 'rejected') throw one.reason;
}

export function evaluationService(): Service {
  const run = (context: ServiceContext) => countDecisions(context, context.failed);
  const labels = { table: 'loan_labels', forget: deleteLabels };
  return {
    upkeep: [
      { name: 'count for shadows and drift', run },
      { name: 'delete labels without applications', seldom: true, run: following([labels]) },
    ],
  };
}
