/**
 * The loop that ends pends: because the applicant has answered, the hours are over, or the application has left the
 * review (docs/operators.md, "Pended applications"). `sql/pends.ts` does it.
 */
import { startLoop } from '../../program/subject/loop.ts';
import type { Loop, LoopContext } from '../../program/subject/subject.ts';
import { endDuePends } from './sql/pends.ts';

const LOOK_MS = 2_000;
const LONGEST_LOOK_MS = 30_000;

/** Starts the loop. Any number of processes run it. */
export function startEndingPends({ database, clock, failed }: LoopContext): Loop {
  return startLoop({
    clock,
    turn: async ({ pause }) => {
      const begunMs = clock.monotonicMs();
      const ended = await endDuePends(database);
      // A slow look means that many applications are pended, or that the database is busy, so the rest is longer.
      const restMs = 10 * (clock.monotonicMs() - begunMs);
      if (ended === 0) await pause(Math.min(Math.max(LOOK_MS, restMs), LONGEST_LOOK_MS));
    },
    onError: (error) => failed('ending the pends', error),
  });
}
