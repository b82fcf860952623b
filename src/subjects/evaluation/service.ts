/** What `serve` and `worker` run to try policies: the upkeep counts for the shadows. */
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { countShadows } from './uses/shadows.ts';

export function evaluationService(): Service {
  const run = (context: ServiceContext) => countShadows(context, context.failed);
  return { upkeep: [{ name: 'count shadows', run }] };
}
