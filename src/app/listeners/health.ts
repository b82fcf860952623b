/**
 * Opens the health listener, where an orchestrator's probes get their answer (docs/deploy.md, "What to set"). It has no
 * personal data.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../ground/base/clock.ts';
import { type Health, healthApi } from '../../listeners/ops/health-api.ts';
import type { Config } from '../config/config.ts';
import { type Listener, NO_LISTENER, openListener } from './listen.ts';

/** Listens on `HEALTH_PORT` if the variable is set. Throws a `ConfigError` if the address cannot be used. */
export async function startHealth(
  { healthHost, healthPort }: Config,
  log: Logger,
  clock: Clock,
  health: Health,
): Promise<Listener> {
  if (healthPort === null) return NO_LISTENER;
  const at = ['HEALTH_HOST', healthHost] as const;
  return openListener(
    healthApi(health, clock),
    at,
    ['HEALTH_PORT', healthPort],
    log,
    'the health listener answers',
  );
}
