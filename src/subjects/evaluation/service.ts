/**
 * What `serve` and `worker` run to try policies: the upkeep counts for the shadows, and deletes labels with their
 * applications.
 */
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { deleteLabels } from './sql/labels.ts';
import { countShadows } from './uses/shadows.ts';

export function evaluationService(): Service {
  const run = (context: ServiceContext) => countShadows(context, context.failed);
  const labels = { table: 'loan_labels', forget: deleteLabels };
  return {
    upkeep: [
      { name: 'count shadows', run },
      { name: 'delete labels without applications', seldom: true, run: following([labels]) },
    ],
  };
}
