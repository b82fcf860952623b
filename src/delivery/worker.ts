/** The loop that delivers messages: turns one after the other while there are any, with a rest after each. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Turns under way at once: a slow answer of the channel holds up one of them. */
const LANES = 2;
/** A lane rests as long as it worked, up to this: batches that arrive meanwhile come first. */
const MAX_REST_MS = 250;
/** Between turns that found nothing, and after one that failed, in milliseconds. */
const IDLE_MS = 500;
const FAILED_MS = 2_000;
/** Sends that are not answered by then after the worker was told to stop are cut off, and uncertain. */
const CUT_OFF_MS = 8_000;

/**
 * Starts to work; `turn` delivers what is due and resolves to how many messages it took up. `onError` hears of
 * a turn that failed. The function that is returned lets the turns under way end, and resolves when they have;
 * their `signal` aborts where that takes too long.
 */
export function startWorker(
  turn: (signal: AbortSignal) => Promise<number>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController();
  const cut = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const lane = async () => {
    while (!stopping.signal.aborted) {
      try {
        const start = performance.now();
        const idle = (await turn(cut.signal)) === 0;
        await pause(idle ? IDLE_MS : Math.min(performance.now() - start, MAX_REST_MS));
      } catch (error) {
        onError(error);
        await pause(FAILED_MS);
      }
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  return async () => {
    stopping.abort();
    const timer = setTimeout(() => cut.abort(), CUT_OFF_MS);
    await lanes;
    clearTimeout(timer);
  };
}
