/**
 * The loop of a queue: takes up what is due while there is room, follows each piece of work to its end, rests, and
 * stops in a bounded time. Touches only its clock and the functions of the given queue. README.md has the rule.
 */
import type { PartnerId } from '../../domain/partner/credential.ts';
import { Bell } from '../../ground/base/bell.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { startLoop } from '../subject/loop.ts';
import type { Loop } from '../subject/subject.ts';

/** Work that was taken up. */
export interface Begun {
  /** The partner whose turn it uses; absent if the claim itself gives the partners their turns. */
  readonly partnerId?: PartnerId;
  /** Resolves when the work has ended and is recorded. */
  readonly ended: Promise<void>;
}

/** What a turn may take up. */
export interface Turn {
  /** How many more pieces of work may begin. */
  readonly room: number;
  /** The partners of the work under way, each as often as it has some. The next claim serves the others first. */
  readonly held: readonly PartnerId[];
  /** Aborts at the stop: what is not committed is undone. */
  readonly stopping: AbortSignal;
  /** Aborts a while after the stop: what is under way is given up. */
  readonly cut: AbortSignal;
}

/** The rules of one queue. */
export interface Queue {
  readonly clock: Clock;
  /** Takes up work that is due. Work whose end is not recorded is taken up again after its lease, by any process. */
  begin(turn: Turn): Promise<readonly Begun[]>;
  /** The most work under way; with so much, no turn begins. */
  readonly most: number;
  /** Called when a turn fails, or the record of some work. */
  onError(error: unknown): void;
  /** A ring ends the rest of an idle loop. The end of work rings it too. */
  readonly bell?: Bell;
  /** The rest after a turn of this length, in milliseconds. */
  restMs?(tookMs: number): number;
  /** The longest rest of a loop with nothing to do, in milliseconds; without it half a second. */
  readonly longestIdleMs?: number;
  /** At the cut, work under way is left to its lease, because it may not react to the signal. */
  readonly isLeftAtCut?: true;
}

/**
 * Batches come first, and a slow turn shows that the database is busy. A turn of this length is followed by a rest of
 * the same length. The rest grows with the square of the turn's length, up to the maximum.
 */
const EVEN_REST_MS = 30;
export const MAX_REST_MS = 250;
const IDLE_MS = 500;
/** An idle loop looks again after this part of the time since it last had something to do. */
const IDLE_SHARE = 1 / 60;

/** Starts the loop. Any number of processes run it. */
export function startQueue(queue: Queue): Loop {
  const { clock, most, onError, bell = new Bell(), restMs = squareRest, longestIdleMs = IDLE_MS } = queue;
  const underway = new Set<Begun>();
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  const follow = async (work: Begun) => {
    underway.add(work);
    await work.ended.catch(onError);
    underway.delete(work);
    // The end makes room, and may make the next work of an application due.
    bell.ring();
  };
  return startLoop({
    clock,
    turn: async ({ stopping, cut, pause }) => {
      const begunMs = clock.monotonicMs();
      const room = most - underway.size;
      const held = [...underway].flatMap(({ partnerId = [] }) => partnerId);
      const begun = room > 0 ? await queue.begin({ room, held, stopping, cut }) : [];
      for (const work of begun) void follow(work);
      const nowMs = clock.monotonicMs();
      const rest = restMs(nowMs - begunMs);
      await pause(rest);
      if (begun.length > 0) lastBegunMs = nowMs;
      else {
        const idle = Math.min(Math.max((nowMs - lastBegunMs) * IDLE_SHARE, IDLE_MS), longestIdleMs);
        await bell.wait(clock, idle - rest, stopping);
      }
    },
    onError,
    settled: async (cut) => {
      const ends = Promise.allSettled([...underway].map(({ ended }) => ended));
      await (queue.isLeftAtCut ? Promise.race([ends, aborted(cut)]) : ends);
    },
  });
}

function squareRest(tookMs: number): number {
  return Math.min(tookMs ** 2 / EVEN_REST_MS, MAX_REST_MS);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
