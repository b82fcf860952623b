/**
 * The loop that applies proposals after their time to undo, and corrects their times if the database's clock leaps
 * (D39, D48; docs/operators.md, "Proposals"). Any number of processes run it.
 */
import { errorFields } from '../../ground/base/describe-error.ts';
import { startLoop } from '../../program/subject/loop.ts';
import type { Loop, LoopContext } from '../../program/subject/subject.ts';
import { termsNow } from '../signing/subject.ts';
import { SECOND_LOOK_SHARE } from './settings.ts';
import { type Look, lookAtOpen } from './sql/open-proposals.ts';
import { mendAhead, moveByLeap } from './sql/proposal-times.ts';
import { applyNext } from './uses/apply-proposals.ts';

/** How often it looks. A decision reaches the applicant within a second of its time. */
const LOOK_MS = 250;
/** How many proposals a process applies at once. */
const AT_ONCE = 3;
/** After this time a turn ends, even if more is due, so that the next turn looks at the clock again. */
const TURN_MS = 2_000;
/** By how much the database's clock must get ahead of the stopwatch to count as a leap. */
const LEAST_LEAP_MS = 1_000;

/** Starts the loop. Any number of processes run it. */
export function startApplying({ database, vault, clock, log, failed, setting }: LoopContext): Loop {
  const terms = termsNow({ database, clock }, setting);
  const desk = { database, vault, clock, terms, lookShare: setting(SECOND_LOOK_SHARE) };
  const watch = leapWatch();
  /** The leaps that are not corrected yet. */
  const leaps: Leap[] = [];
  const onFailure = (proposal: number, error: unknown) =>
    log.error({ proposal, error: errorFields(error) }, 'a proposal could not be applied, and is tried again');
  return startLoop({
    clock,
    turn: async ({ stopping, pause }) => {
      const askedMs = clock.monotonicMs();
      const look = await lookAtOpen(database);
      const leap = watch(look.now, { askedMs, answeredMs: clock.monotonicMs() });
      if (leap !== null) leaps.push(leap);
      await mend(desk, look, leaps);
      const applyAll = async () => {
        let count = 0;
        const isOver = () => stopping.aborted || clock.monotonicMs() - askedMs > TURN_MS;
        while (!isOver() && (await applyNext(desk, onFailure)) !== null) count += 1;
        return count;
      };
      const count = look.isDue ? await sumOf(Array.from({ length: AT_ONCE }, applyAll)) : 0;
      // It rests even if proposals are due, because then other processes apply them.
      if (count === 0) await pause(LOOK_MS);
    },
    onError: (error) => failed('applying the proposals', error),
  });
}

/** Waits for all, even if one fails, so that none runs beside the next turn. */
async function sumOf(some: readonly Promise<number>[]): Promise<number> {
  const ends = await Promise.allSettled(some);
  const failed = ends.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ends.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}

/** A leap of the clock: its size, and the last time that was seen before it. */
interface Leap {
  readonly before: Date;
  readonly ms: number;
}

/** When the clock was asked and when it answered, by the process's stopwatch. */
interface Asked {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/**
 * Compares the database's clock with the process's stopwatch; the first look has nothing to compare with. A late answer
 * must not seem to be a leap, so the longest time that can lie between two looks counts.
 */
export function leapWatch(): (now: Date, asked: Asked) => Leap | null {
  let seen: { readonly now: Date; readonly askedMs: number } | null = null;
  return (now, { askedMs, answeredMs }) => {
    const before = seen;
    seen = { now, askedMs };
    if (before === null) return null;
    const ms = now.getTime() - before.now.getTime() - (answeredMs - before.askedMs);
    return ms > LEAST_LEAP_MS ? { before: before.now, ms } : null;
  };
}

/** Corrects times after leaps. If that fails, the next turn does it, before anything is applied. */
async function mend(
  { database, vault }: Pick<LoopContext, 'database' | 'vault'>,
  { isAhead }: Look,
  leaps: Leap[],
): Promise<void> {
  for (const { before, ms } of [...leaps]) {
    await moveByLeap(database, vault, before, ms);
    leaps.shift();
  }
  if (isAhead) await mendAhead(database, vault);
}
