/**
 * Drift as the upkeep watches it (D51; docs/policy.md, "Drift"): what `policy drift` compares, counted as it comes in,
 * so that no turn reads a week again. Writes by `sql/drift.ts`.
 */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { EARLIER_MS, firstBatchAt } from '../../applications/sql/batch-times.ts';
import { type LivePolicyRow, readLive } from '../../policies/sql/policies.ts';
import { Distribution, driftOf, WATCHED } from '../rules/drift.ts';
import type { DecidedBatchFacts } from '../rules/shadow.ts';
import { activatedAt, type DecidedBatch, dayBefore } from '../sql/decided-batches.ts';
import {
  ALL,
  addDriftCounts,
  BASELINE_DAY,
  beginDrift,
  claimIndexes,
  type DriftCounts,
  type DriftPlace,
  putIndexes,
  readBaselines,
  readPlace,
  readSamples,
  type StoredIndex,
} from '../sql/drift.ts';
import { BASELINE } from './drift.ts';
import type { Follower } from './follow-decisions.ts';

/** The last days that are compared with the baseline. */
export const WINDOW_DAYS = 7;

/** Counts for the live policy; null: none is live. Begins anew where another one was activated. */
export async function driftFollower(database: Database): Promise<Follower | null> {
  const live = await readLive(database);
  if (live === null) return null;
  const since = await dayBefore(database, WINDOW_DAYS);
  const place = await placeOf(database, live, since);
  // Another process sees an activation that is newer still.
  if (place.activationId !== live.activationId) return null;
  const counts = new DriftCount(live.card, since, place.baselineFrom, await readBaselines(database));
  return {
    from: place.next,
    until: null,
    count: (batch, decided, positions) => counts.add(batch, decided, positions),
    save: async (next) => {
      await inTransaction(database, (session) => addDriftCounts(session, place, next, counts.all, since));
    },
    failed: (error) => Promise.reject(error),
  };
}

async function placeOf(database: Database, live: LivePolicyRow, since: string): Promise<DriftPlace> {
  const place = await readPlace(database);
  if (place.activationId === live.activationId) return place;
  const baselineFrom = await firstBatchAt(database, await activatedAt(database, live.activationId));
  const windowFrom = await firstBatchAt(database, new Date(Date.parse(since) - EARLIER_MS));
  const { activationId } = live;
  const next = Math.min(baselineFrom, windowFrom);
  await inTransaction(database, (session) => beginDrift(session, { activationId, baselineFrom, next }));
  return readPlace(database);
}

/** The counts of a turn. */
class DriftCount {
  readonly #card: Card;
  readonly #since: string;
  readonly #baselineFrom: number;
  /** Applications of the baselines, with those of this turn. */
  readonly #baselines: Map<number, number>;
  /** By partner, then by day. */
  readonly #counts = new Map<number, Map<string, Distribution>>();

  constructor(card: Card, since: string, baselineFrom: number, baselines: Map<number, number>) {
    this.#card = card;
    this.#since = since;
    this.#baselineFrom = baselineFrom;
    this.#baselines = baselines;
  }

  add({ id, day, partnerId }: DecidedBatch, decided: DecidedBatchFacts, positions: number): void {
    const ofDay = day >= this.#since ? this.#of(partnerId, day) : null;
    const filling =
      Number(id) < this.#baselineFrom ? [] : [ALL, partnerId].filter((one) => this.#sizeOf(one) < BASELINE);
    if (ofDay === null && filling.length === 0) return;
    for (let position = positions - 1; position >= 0; position -= 1) {
      if (decided.read(position) !== 'read') continue;
      ofDay?.add(decided.facts);
      for (const one of filling) this.#fill(one, decided.facts);
    }
  }

  #fill(partner: number, facts: DecisionFacts): void {
    const size = this.#sizeOf(partner);
    if (size >= BASELINE) return;
    this.#of(partner, BASELINE_DAY).add(facts);
    this.#baselines.set(partner, size + 1);
  }

  #sizeOf(partner: number): number {
    return this.#baselines.get(partner) ?? 0;
  }

  #of(partner: number, day: string): Distribution {
    let days = this.#counts.get(partner);
    if (days === undefined) {
      days = new Map();
      this.#counts.set(partner, days);
    }
    let found = days.get(day);
    if (found === undefined) {
      found = new Distribution(this.#card);
      days.set(day, found);
    }
    return found;
  }

  /** What is stored: the days of the partners and of all together, and the baselines. */
  get all(): DriftCounts[] {
    const counted = [...this.#counts].flatMap(([partner_id, days]) =>
      [...days].map(([day, found]) => ({ partner_id, day, found })),
    );
    const together = new Map<string, Distribution>();
    for (const { day, found } of counted.filter((one) => one.day !== BASELINE_DAY)) {
      const sum = together.get(day) ?? new Distribution(this.#card);
      sum.addCounts(found.counts);
      together.set(day, sum);
    }
    return [...counted, ...[...together].map(([day, found]) => ({ partner_id: ALL, day, found }))]
      .filter(({ found }) => found.applications > 0)
      .map(({ partner_id, day, found }) => ({
        ...{ partner_id, day },
        ...{ applications: found.applications, bins: found.counts },
      }));
  }
}

/** Computes the indexes from the counts, once a minute. */
export async function computeDrift(database: Database): Promise<void> {
  const live = await readLive(database);
  if (live === null) return;
  const since = await dayBefore(database, WINDOW_DAYS);
  await inTransaction(database, async (session) => {
    if (!(await claimIndexes(session, live.activationId))) return;
    const samples = Map.groupBy(await readSamples(session, since), ({ partnerId }) => partnerId);
    const indexes = [...samples].flatMap(([partnerId, some]): StoredIndex[] => {
      const [baseline, now] = [new Distribution(live.card), new Distribution(live.card)];
      for (const { isBaseline, bins } of some) (isBaseline ? baseline : now).addCounts(bins);
      return driftOf(baseline, now, WATCHED).flatMap(({ characteristic, psi, threshold }) =>
        psi === null || threshold === null ? [] : { partner_id: partnerId, characteristic, psi, threshold },
      );
    });
    await putIndexes(session, indexes);
  });
}
