/**
 * What the loops of all subjects share: turns until the stop, a rest after a failed turn, and a cut after the stop.
 * Touches only its clock. ARCHITECTURE, "A process's life", has the rule of a stop.
 */
import type { Clock } from '../../ground/base/clock.ts';
import type { Loop } from './subject.ts';

/** The rest after a turn that failed. */
const FAILED_MS = 2_000;
/** Work that is under way this long after `stop()` is cut off. */
const CUT_OFF_MS = 4_000;

/** What a turn gets. */
interface LoopSignals {
  /** Aborts at `stop()`. */
  readonly stopping: AbortSignal;
  /** Aborts a while after `stop()`. */
  readonly cut: AbortSignal;
  /** Resolves after so many milliseconds, or at `stop()`. */
  pause(ms: number): Promise<void>;
}

interface LoopWork {
  readonly clock: Clock;
  /** One turn with the rest after it. If it fails, the loop rests for two seconds. */
  turn(signals: LoopSignals): Promise<void>;
  /** Called when a turn fails before the stop. */
  onError(error: unknown): void;
  /** Resolves when the work that turns left under way has ended; absent: they leave none. */
  settled?(cut: AbortSignal): Promise<void>;
}

/** Starts a loop of turns, one after the other. */
export function startLoop({ clock, turn, onError, settled }: LoopWork): Loop {
  const stopping = new AbortController();
  const cut = new AbortController();
  const pause = (ms: number) => clock.sleep(ms, { signal: stopping.signal }).catch(() => {});
  const signals = { stopping: stopping.signal, cut: cut.signal, pause };
  let lastTurnMs = clock.monotonicMs();
  const work = async () => {
    while (!stopping.signal.aborted) {
      lastTurnMs = clock.monotonicMs();
      try {
        await turn(signals);
      } catch (error) {
        if (stopping.signal.aborted) return;
        onError(error);
        await pause(FAILED_MS);
      }
    }
  };
  const worked = work();
  return {
    lastTurnMs: () => lastTurnMs,
    stop: () => {
      stopping.abort();
      clock.after(CUT_OFF_MS, () => cut.abort(), { ref: false });
      return worked;
    },
    ended: worked.then(() => settled?.(cut.signal)),
  };
}
