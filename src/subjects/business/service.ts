/** What `serve` and `worker` run for the business counts: jobs of the upkeep. */
import type { Service } from '../../program/subject/subject.ts';
import { countEvents, countRefusals, countRegistrations } from './uses/count.ts';

export function businessService(): Service {
  return {
    upkeep: [
      { name: 'count registrations', run: countRegistrations },
      { name: 'count events of applications', run: countEvents },
      { name: 'count refusals', run: countRefusals() },
    ],
  };
}
