/** The health listener of a process. It answers an orchestrator's probes and has no access to personal data. */
import type { Logger } from 'pino';
import { type Health, healthApi } from '../../http/health-api.ts';
import type { Config } from '../config/config.ts';
import { listen, urlOf } from './listen.ts';

/** A running health listener. */
export interface HealthListener {
  close(): Promise<void>;
}

/** Listens on `HEALTH_PORT` where the variable is set. Throws a `ConfigError` where the address cannot be used. */
export async function startHealth(
  { healthHost, healthPort }: Config,
  log: Logger,
  health: Health,
): Promise<HealthListener> {
  if (healthPort === null) return { close: async () => {} };
  const app = healthApi(health);
  try {
    await listen(app, ['HEALTH_HOST', healthHost], ['HEALTH_PORT', healthPort]);
  } catch (error) {
    await app.close();
    throw error;
  }
  log.info({ url: urlOf(app) }, 'the health listener answers');
  return { close: () => app.close() };
}
