/** The loop that delivers messages: turns one after the other while there are any, with a rest after each. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Turn } from './turn.ts';

/** Turns whose answers are still to come: a slow answer of the channel holds up none of the next ones. */
const MAX_UNDERWAY = 8;
/**
 * Batches come first: a turn of this long is followed by a rest of this long, a slower one, which tells that the
 * database is busy, by a longer one, and a quicker one by hardly any. It grows with the square, up to the most.
 */
const EVEN_REST_MS = 30;
const MAX_REST_MS = 250;
/** Between turns that found nothing, and after one that failed, in milliseconds. */
const IDLE_MS = 500;
const FAILED_MS = 2_000;
/** Sends that are not answered by then after the worker was told to stop are cut off, and uncertain. */
const CUT_OFF_MS = 4_000;

export interface Worker {
  /** Begins nothing more. Resolves when the turn under way has sent what it took up, or was undone. */
  stop(): Promise<void>;
  /** Resolves, once the worker is stopped, when all that went out is answered and recorded. */
  readonly ended: Promise<void>;
}

/**
 * Starts to work; `turn` sends what is due, gives up what it has not committed when `stopping` aborts, and cuts its
 * sends off when `cut` does. `onError` hears of a turn that failed.
 */
export function startWorker(
  turn: (cut: AbortSignal, stopping: AbortSignal) => Promise<Turn>,
  onError: (error: unknown) => void,
): Worker {
  const stopping = new AbortController();
  const cut = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const underway = new Set<Promise<void>>();
  const work = async () => {
    while (!stopping.signal.aborted) {
      try {
        const start = performance.now();
        const { claimed, concluded } = await turn(cut.signal, stopping.signal);
        const tookMs = performance.now() - start;
        const end = concluded.catch(onError).then(() => void underway.delete(end));
        underway.add(end);
        await pause(claimed === 0 ? IDLE_MS : Math.min(tookMs ** 2 / EVEN_REST_MS, MAX_REST_MS));
        if (underway.size >= MAX_UNDERWAY) await firstOf(underway, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        onError(error);
        await pause(FAILED_MS);
      }
    }
  };
  const worked = work();
  return {
    stop: () => {
      stopping.abort();
      setTimeout(() => cut.abort(), CUT_OFF_MS).unref();
      return worked;
    },
    ended: worked.then(() => Promise.all(underway)).then(() => {}),
  };
}

/** Resolves when one of them does, or the signal aborts; leaves nothing behind on the signal, which outlives them. */
async function firstOf(promises: Iterable<Promise<void>>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const enough = new AbortController();
  const aborted = once(signal, 'abort', { signal: enough.signal }).catch(() => {});
  await Promise.race([...promises, aborted]);
  enough.abort();
}
