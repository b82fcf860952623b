/**
 * What `serve` and `worker` run for the record of operators' acts: the log gets its head (docs/audit.md, "The chain").
 */
import { DAY_MS } from '../../ground/base/clock.ts';
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { chainHead, headText } from './uses/verify-chain.ts';

/**
 * Writes the head of the chain into the log at the start of a process and each day, so that it is known outside of the
 * store.
 */
export function auditService(): Service {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const run = async ({ database, clock, log }: ServiceContext) => {
    if (clock.monotonicMs() - toldAtMs < DAY_MS) return;
    log.info({ head: headText(await chainHead({ database })) }, 'the end of the record of operators');
    toldAtMs = clock.monotonicMs();
  };
  return { upkeep: [{ name: 'log the head of the record', seldom: true, run }] };
}
