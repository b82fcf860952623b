/**
 * The loop that makes the items of the review queue after registrations, and heals them (docs/operators.md, "The review
 * queue"). `sql/expansion.ts` does it.
 */
import { startLoop } from '../../program/subject/loop.ts';
import type { Loop, LoopContext } from '../../program/subject/subject.ts';
import { REVIEW_DUE_HOURS } from './settings.ts';
import { expandReviews, healReviewItems } from './sql/expansion.ts';

/** How often it looks for new batches. */
const LOOK_MS = 300;
/** The most batches of a turn, so that the transaction is short, and a killed process leaves little to do again. */
const BATCHES = 50;
/**
 * After a full turn it rests for nine times as long as the turn took. So it slows registrations by a few percent at
 * most. While they run at full speed, the queue falls behind (docs/operators.md).
 */
const REST_SHARE = 9;
const HEAL_MS = 5_000;
/** After a healing the next one waits at least this many times as long as the healing took. */
const HEAL_REST_SHARE = 99;
const HEALED_BATCHES = 1_000;
/**
 * A turn begins this many batches before the last one that it saw, because a registration may commit after later
 * numbers. Older batches are found once in each healing, so that the traces of many expanded batches are not read again
 * and again.
 */
const REACH_BACK = 4_096;

/** Starts the loop. Any number of processes run it. */
export function startExpansion({ database, clock, log, failed, setting }: LoopContext): Loop {
  const dueHours = setting(REVIEW_DUE_HOURS);
  let after = '0';
  let healed = '0';
  let healAt = clock.monotonicMs() + HEAL_MS;
  const heal = async (begunMs: number) => {
    const { last, removed, lacking } = await healReviewItems(database, healed, HEALED_BATCHES);
    healed = last ?? '0';
    after = '0';
    const nowMs = clock.monotonicMs();
    healAt = nowMs + Math.max(HEAL_MS, HEAL_REST_SHARE * (nowMs - begunMs));
    if (removed + lacking > 0) log.warn({ removed, lacking }, 'the queue of the review desk was healed');
  };
  return startLoop({
    clock,
    turn: async ({ pause }) => {
      const begunMs = clock.monotonicMs();
      if (begunMs >= healAt) await heal(begunMs);
      const { batches, last } = await expandReviews(database, after, BATCHES, dueHours);
      if (last !== null) after = reachBack(last);
      await pause(batches < BATCHES ? LOOK_MS : REST_SHARE * (clock.monotonicMs() - begunMs));
    },
    onError: (error) => failed('the queue of the review desk', error),
  });
}

function reachBack(last: string): string {
  const place = BigInt(last) - BigInt(REACH_BACK);
  return `${place < 0n ? 0n : place}`;
}
