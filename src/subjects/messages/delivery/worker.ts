/** The loop that delivers messages: one turn after the other, each followed by a rest. */
import { once } from 'node:events';
import { Bell } from '../../../ground/base/bell.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { startLoop } from '../../../program/subject/loop.ts';
import type { Loop } from '../../../program/subject/subject.ts';
import type { Turn } from './turn.ts';

/** Most turns that wait for answers: a slow answer of the channel does not hold up the next turns. */
const MAX_UNDERWAY = 8;
/**
 * Batches come first, and a slow turn says that the database is busy. A turn of this length is followed by a rest of
 * the same length; the rest grows with the square of the turn's length, up to the maximum.
 */
const EVEN_REST_MS = 30;
const MAX_REST_MS = 250;
/** The rest after a turn that found nothing, in milliseconds. */
const IDLE_MS = 500;

interface Worker {
  readonly clock: Clock;
  /**
   * Sends what is due. Undoes what it has not committed when `stopping` aborts, and cuts its sends off when `cut`
   * aborts: a send without an answer is uncertain then.
   */
  readonly turn: (cut: AbortSignal, stopping: AbortSignal) => Promise<Turn>;
  /** Called when a turn fails. */
  readonly onError: (error: unknown) => void;
  /** A ring ends the rest after a turn that found nothing. */
  readonly bell?: Bell;
}

/** Starts the loop. */
export function startWorker({ clock, turn, onError, bell = new Bell() }: Worker): Loop {
  const underway = new Set<Promise<void>>();
  return startLoop({
    clock,
    turn: async ({ stopping, cut, pause }) => {
      const begunMs = clock.monotonicMs();
      const { claimed, concluded } = await turn(cut, stopping);
      const tookMs = clock.monotonicMs() - begunMs;
      const end = concluded.catch(onError).then(() => void underway.delete(end));
      underway.add(end);
      if (claimed === 0) await bell.wait(clock, IDLE_MS, stopping);
      else await pause(Math.min(tookMs ** 2 / EVEN_REST_MS, MAX_REST_MS));
      if (underway.size >= MAX_UNDERWAY) await firstOf(underway, stopping);
    },
    onError,
    settled: async () => void (await Promise.all(underway)),
  });
}

/**
 * Resolves when one of the promises does, or when the signal aborts. Leaves no listener on the signal, which lives
 * longer.
 */
async function firstOf(promises: Iterable<Promise<void>>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const enough = new AbortController();
  const aborted = once(signal, 'abort', { signal: enough.signal }).catch(() => {});
  await Promise.race([...promises, aborted]);
  enough.abort();
}
