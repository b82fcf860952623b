/** The limits of a listener for tests that are about none: on a busy machine an answer may take long. */
import type { ListenerLimits } from '../../src/wire/gate/connections.ts';
import { PATIENCE_MS } from './eventually.ts';

/** These limits, with time for a busy machine. */
export function patient({ connections }: ListenerLimits): ListenerLimits {
  return {
    connections: { ...connections, closedAfterMs: PATIENCE_MS + 1_000 },
    answerWithinMs: PATIENCE_MS,
  };
}
