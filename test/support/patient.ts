/** The limits of a listener for tests that are about none: on a busy machine an answer may take long. */
import { type Clock, machineClock } from '../../src/base/clock.ts';
import type { ListenerLimits } from '../../src/gate/connections.ts';
import { PATIENCE_MS } from './eventually.ts';

/** These limits, with time for a busy machine. */
export function patient({ connections }: ListenerLimits): ListenerLimits {
  return {
    connections: { ...connections, closedAfterMs: PATIENCE_MS + 1_000 },
    answerWithinMs: PATIENCE_MS,
  };
}

/** The machine's clock for tests that are about no limit: its signals leave time for a busy machine. */
export const patientClock: Clock = {
  ...machineClock,
  timeout: (ms) => machineClock.timeout(ms + PATIENCE_MS),
};
