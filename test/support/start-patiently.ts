/** Starts the service where its start is not what is tested. */
import { startService } from '../../src/app/serve.ts';
import { eventually } from './eventually.ts';

/**
 * `startService`, tried again where the machine is too busy for the service's own time limits. Another failure is
 * thrown at once.
 */
export function startPatiently(...args: Parameters<typeof startService>): ReturnType<typeof startService> {
  return eventually('the service to start', () =>
    startService(...args).catch((error: Error) => {
      if (!/timeout/i.test(error.message)) throw error;
      return undefined;
    }),
  );
}
