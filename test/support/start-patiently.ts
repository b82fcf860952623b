/** Starts the service for tests that do not test the start. */
import type { Config } from '../../src/app/config/config.ts';
import type { Store } from '../../src/app/open-store.ts';
import { type RunningService, startService } from '../../src/app/serve.ts';
import { Patience } from '../../src/storage/patience.ts';

/** A minute for each step, as a process has. */
export function testPatience(): Patience {
  return new Patience({ what: 'the database', signal: new AbortController().signal, notice: () => {} });
}

/** `startService` on a store that the test has opened. */
export function startPatiently(
  config: Config,
  store: Store,
  log: Parameters<typeof startService>[2],
): Promise<RunningService> {
  return startService(config, { ...store, patience: testPatience() }, log);
}
