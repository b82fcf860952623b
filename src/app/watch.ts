/** Makes the watcher of a process, and opens the listener that shows its pages (docs/monitoring.md, "/metrics"). */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../ground/base/clock.ts';
import { type Health, healthApi } from '../listeners/ops/health-api.ts';
import { NOBODY, type Watcher } from '../program/subject/watcher.ts';
import { tracing } from '../program/tracing/tracing.ts';
import type { Config } from './config/config.ts';
import { type Listener, NO_LISTENER, openListener } from './listeners/listen.ts';
import type { Store } from './open-store.ts';
import { loadServices } from './subjects.ts';

/** Begins to watch a process, if a subject has a watcher. */
export async function startWatch(
  { setting }: Config,
  { database, webhookDatabase, clock }: Store,
): Promise<Watcher> {
  const pools = { main: database, ...(webhookDatabase && { webhooks: webhookDatabase }) };
  const start = (await loadServices()).find(({ watch }) => watch !== undefined)?.watch;
  return start?.({ database, clock, setting, pools }) ?? NOBODY;
}

/** Measures and traces the requests of a listener. */
export function watchListener(app: FastifyInstance, watcher: Watcher): void {
  watcher.measure(app);
  tracing()?.follow(app);
}

/**
 * Opens a listener on `METRICS_PORT` with the pages of the watcher and the probes. Without that port the operators'
 * listener has the pages, if the process has such a listener. Throws a `ConfigError` if the address cannot be used.
 */
export async function showWatch(
  { metricsHost, metricsPort }: Config,
  { log, clock, watcher }: { readonly log: Logger; readonly clock: Clock; readonly watcher: Watcher },
  health: Health,
  ops?: FastifyInstance,
): Promise<Listener> {
  if (metricsPort === null) {
    if (ops !== undefined) watcher.addPages(ops);
    return NO_LISTENER;
  }
  const app = healthApi(health, clock);
  watcher.addPages(app);
  const at = ['METRICS_HOST', metricsHost] as const;
  return openListener(app, at, ['METRICS_PORT', metricsPort], log, 'the metrics listener answers');
}
