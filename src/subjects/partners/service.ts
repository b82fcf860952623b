/**
 * The jobs that `serve` and `worker` run for the partners, beside the check of keys (`app/serve.ts`): docs/upkeep.md,
 * "Jobs".
 */
import type { Service } from '../../program/subject/subject.ts';
import { tellForgedKeys } from './sql/key-macs.ts';
import { forgetRequests } from './sql/requests.ts';
import { advanceUsage } from './sql/usage.ts';

export const PARTNERS_SERVICE: Service = {
  upkeep: [
    { name: 'advance usage', run: ({ database }) => advanceUsage(database) },
    { name: 'forget requests', seldom: true, run: ({ database }) => forgetRequests(database) },
    { name: 'check the rows of API keys', seldom: true, run: tellForgedKeys },
  ],
};
