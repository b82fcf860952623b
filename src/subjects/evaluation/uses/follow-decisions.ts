/**
 * Goes through the batches that came in since the last time, once for all who follow them (D51; docs/policy.md,
 * "Shadow"). Each follower counts and stores for itself: one that fails stops none of the others. Reads `batches`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { settledBatchNumber } from '../../applications/sql/settled-batches.ts';
import { batchesBetween, type DecidedBatch } from '../sql/decided-batches.ts';

/** Somebody who follows the decisions. */
export interface Follower {
  /** The first batch number that it has not counted. */
  readonly from: number;
  /** The first one that it does not count; null: it goes on. */
  readonly until: number | null;
  /** Counts a batch, whose applications `decided` reads: so many positions. */
  count(batch: DecidedBatch, decided: DecidedFacts, positions: number): void;
  /** All batches before the number `next` are counted: stores the counts. */
  save(next: number): Promise<void>;
  /** Counting threw. Nothing of this turn counts, and it counts no more of it. */
  failed(error: unknown): Promise<void>;
}

/**
 * The time of a turn for all followers. Together with the pause between two turns it bounds what they cost: a hundredth
 * of a core, however many applications come in. What comes in faster waits for later turns.
 */
export const FOLLOW_FOR_MS = 100;
/** Batches of a page: at most 25,000 applications. */
const PAGE = 250;
/** The event loop is free after so many applications, which take a millisecond or two. */
const AT_ONCE = 2_000;

/** Lets the followers count what came in. Ends after `FOLLOW_FOR_MS`, and the next turn goes on. */
export async function followDecisions(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  followers: readonly Follower[],
): Promise<void> {
  if (followers.length === 0) return;
  const settled = await settledBatchNumber(database, clock);
  if (settled === null) return;
  // Those at one place go together. The first ones are those that have the least to do.
  const groups = [...Map.groupBy(followers, ({ from }) => from)].toSorted(([a], [b]) => b - a);
  for (const [from, group] of groups) {
    const before = Math.min(settled + 1, Math.max(...group.map(({ until }) => until ?? settled + 1)));
    await followFrom(database, clock, from, before, group, FOLLOW_FOR_MS / groups.length);
  }
}

async function followFrom(
  database: Database,
  clock: Clock,
  from: number,
  before: number,
  group: readonly Follower[],
  forMs: number,
): Promise<void> {
  const untilMs = clock.monotonicMs() + forMs;
  const failures = new Map<Follower, unknown>();
  let done = from;
  for await (const { batches, next } of batchesBetween(database, from, before, PAGE)) {
    await countPage(batches, group, failures);
    done = next;
    if (clock.monotonicMs() >= untilMs) break;
  }
  const ends = await Promise.allSettled(
    group.map(async (follower) => {
      const { until } = follower;
      if (failures.has(follower)) await follower.failed(failures.get(follower));
      else if (done > from) await follower.save(until === null ? done : Math.min(done, until));
    }),
  );
  for (const one of ends) if (one.status === 'rejected') throw one.reason;
}

async function countPage(
  batches: readonly DecidedBatch[],
  group: readonly Follower[],
  failures: Map<Follower, unknown>,
): Promise<void> {
  const decided = new DecidedFacts();
  let atOnce = 0;
  for (const batch of batches) {
    const positions = decided.beginText(batch.facts);
    for (const follower of group) {
      const { until } = follower;
      if (failures.has(follower) || (until !== null && Number(batch.id) >= until)) continue;
      try {
        follower.count(batch, decided, positions);
      } catch (error) {
        failures.set(follower, error);
      }
    }
    atOnce += positions;
    if (atOnce < AT_ONCE) continue;
    atOnce = 0;
    await nextTurn();
  }
}
