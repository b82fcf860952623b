/**
 * The background work that keeps the store small and its hot paths short: the jobs of all subjects, one after the
 * other.
 */
import type { Clock } from '../ground/base/clock.ts';
import { toldBy } from '../ground/base/told-error.ts';
import { Elapsed } from '../ground/postgres/elapsed.ts';
import type { ServiceContext, UpkeepJob } from '../program/subject/subject.ts';
import type { JobEnd } from '../program/subject/watcher.ts';
import { loadServices } from './subjects.ts';

/** How often the jobs run; seldom jobs run every so many turns. */
export const EVERY_MS = 15_000;
const SELDOM_TURNS = 20;
/** A job that is under way this long after the stop is left: the end of its session undoes it, and it is done again. */
const LEFT_AFTER_MS = 4_000;

/** The jobs of this process: those without a subject first, then those of the subjects in their order. */
export async function loadJobs(clock: Clock): Promise<UpkeepJob[]> {
  const elapsed = new Elapsed(clock);
  return [
    { name: 'advance elapsed time', run: ({ database }) => elapsed.advance(database) },
    ...(await loadServices()).flatMap(({ upkeep = [] }) => upkeep),
  ];
}

/** Runs every job that is due in this turn (from 0), until `signal` aborts. A failed job does not stop the others. */
export async function upkeepTurn(
  jobs: readonly UpkeepJob[],
  context: ServiceContext,
  turn: number,
  signal?: AbortSignal,
): Promise<void> {
  const ends: JobEnd[] = [];
  for (const { name, seldom, run } of jobs) {
    if (signal?.aborted) return;
    if (seldom && turn % SELDOM_TURNS !== 0) continue;
    const begunMs = context.clock.monotonicMs();
    const end = await run(context).then(
      () => ({ succeeded: true, why: null }),
      (error: unknown) => {
        context.failed(`upkeep: ${name}`, error);
        return { succeeded: false, why: toldBy(error) };
      },
    );
    ends.push({ name, tookMs: context.clock.monotonicMs() - begunMs, ...end });
  }
  await context.watcher
    .kept(ends)
    .catch((error: unknown) => context.failed('the notes of the upkeep', error));
}

/**
 * Starts the upkeep. Returns a function that begins no more jobs and waits for the one under way, for a few seconds.
 */
export function startUpkeep(jobs: readonly UpkeepJob[], context: ServiceContext): () => Promise<void> {
  const stopping = new AbortController();
  let turn = 0;
  let running = Promise.resolve();
  let busy = false;
  const { clock } = context;
  const timer = clock.every(EVERY_MS, () => {
    if (busy) return;
    busy = true;
    running = upkeepTurn(jobs, context, turn++, stopping.signal).finally(() => {
      busy = false;
    });
  });
  return async () => {
    timer.cancel();
    stopping.abort();
    await Promise.race([running, clock.sleep(LEFT_AFTER_MS, { ref: false })]);
  };
}
