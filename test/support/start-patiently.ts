/** Starts the service for tests that do not test the start. */
import { startService } from '../../src/app/serve.ts';
import { eventually } from './eventually.ts';

/**
 * `startService`, repeated if the machine is too busy for the service's own time limits. Throws any other failure at
 * once.
 */
export function startPatiently(...args: Parameters<typeof startService>): ReturnType<typeof startService> {
  return eventually('the service to start', () =>
    startService(...args).catch((error: Error) => {
      if (!/timeout/i.test(error.message)) throw error;
      return undefined;
    }),
  );
}
