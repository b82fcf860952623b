/** Starts the service for tests that do not test the start. */
import { EVERY_MS as UPKEEP_EVERY_MS } from '../../src/app/background.ts';
import type { Config } from '../../src/app/config/config.ts';
import type { Store } from '../../src/app/open-store.ts';
import { type RunningService, startService } from '../../src/app/serve.ts';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { sessionsOf, type TestDatabase } from './database.ts';
import { patient } from './patient.ts';

/** A minute for each step, as a process has. */
export function testPatience(): Patience {
  return new Patience({
    what: 'the database',
    signal: new AbortController().signal,
    notice: () => {},
    clock: machineClock,
  });
}

/** For all files but those about a limit of time: on a busy machine an answer may take long. */
const PATIENT_LIMITS = patient(PARTNER_LIMITS);

/** `startService` on a store that the test has opened. */
export function startPatiently(
  config: Config,
  store: Store & Partial<Pick<TestDatabase, 'runtime'>>,
  log: Parameters<typeof startService>[2],
  limits = PATIENT_LIMITS,
): Promise<RunningService> {
  return startService(
    config,
    { ...store, database: sessionsOf(store), patience: testPatience(), place: 'the store of the test' },
    log,
    {
      limits,
    },
  );
}

/**
 * The same without the upkeep: on a busy machine its first turn comes between the steps of a test that does the jobs of
 * the upkeep itself.
 */
export function startWithoutUpkeep(...[config, store, ...rest]: Parameters<typeof startPatiently>) {
  const { clock } = store;
  const every: Clock['every'] = (ms, ring, options) =>
    ms === UPKEEP_EVERY_MS ? { cancel: () => {} } : clock.every(ms, ring, options);
  const without: Clock = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, options) => clock.sleep(ms, options),
    after: (ms, ring, options) => clock.after(ms, ring, options),
    every,
    timeout: (ms) => clock.timeout(ms),
  };
  return startPatiently(config, { ...store, clock: without }, ...rest);
}
