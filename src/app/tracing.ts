/**
 * Begins to send the traces of a process to a collector, if the variables say so (docs/tracing.md). Loads
 * OpenTelemetry.
 */
import type { Logger } from 'pino';
import { version } from '../ground/base/version.ts';
import { failureLog } from '../program/operations/failure-log.ts';
import type { Store } from './open-store.ts';

/** Begins to trace the process. Returns the function that ends this, which takes little more than a second. */
export async function startTracing({ database, webhookDatabase, vault, clock }: Store, log: Logger) {
  const { traceProcess } = await import('../program/tracing/trace-process.ts');
  const logFailure = failureLog(log, clock, 'warn');
  return traceProcess({
    vault,
    clock,
    pools: [database, ...(webhookDatabase ? [webhookDatabase] : [])],
    version: version(),
    failed: (facts) => logFailure('the collector did not take spans', facts),
  });
}
