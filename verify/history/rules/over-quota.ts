/** Nobody is told that a quota is used up while some of it is left, and after that nothing more is told (D16, D39). */
import type { Batch, ClockStep, Found, History, Partner, StoredApplication } from '../history.ts';
import { answered, begunAt, knownAt, type Lookup } from '../lookup.ts';

/** An application leaves the window at the end of the second in which it came (D18). */
const WINDOW_MS = 24 * 3_600_000 + 1_000;

/** The times of the database at which something may have been done, and when the clients saw its beginning. */
interface Possible {
  readonly begunMs: number;
  readonly earliestMs: number;
  readonly latestMs: number;
}

export function checkOverQuota(history: History, lookup: Lookup): Found[] {
  const byPartner = Map.groupBy(history.store.applications, ({ partnerId }) => partnerId);
  const registered = new Map(
    [...byPartner].map(([id, stored]) => [id, registeredOf(stored, history.clockSteps, lookup)]),
  );
  const partners = new Map(history.partners.map((partner) => [partner.id, partner]));
  return history.batches.flatMap((batch) => {
    const outcomes = answered(batch)[0]?.answer.outcomes ?? [];
    const at = outcomes.findIndex(({ kind }) => kind === 'over_quota');
    if (at < 0) return [];
    const later = outcomes
      .slice(at)
      .filter(({ kind }) => kind === 'registered' || kind === 'duplicate').length;
    const { partnerId } = batch;
    const text = groundless(batch, partners.get(partnerId)!, registered.get(partnerId) ?? [], history);
    return [
      ...(text === null ? [] : [{ partnerId, text }]),
      ...(later === 0
        ? []
        : [{ partnerId, text: `${later} of a batch were looked at after its quota was used up` }]),
    ];
  });
}

function registeredOf(
  stored: readonly StoredApplication[],
  steps: readonly ClockStep[],
  lookup: Lookup,
): Possible[] {
  return stored.map((application) => {
    const sent = lookup.sent(application);
    // Nobody saw it: it may have come at any time.
    if (sent === undefined) {
      return {
        begunMs: Number.NEGATIVE_INFINITY,
        earliestMs: Number.NEGATIVE_INFINITY,
        latestMs: Number.POSITIVE_INFINITY,
      };
    }
    return possible(begunAt(sent.batch), knownAt(sent.batch), steps);
  });
}

/** Counts what may have been in the window: if that is below the cap, a part of the quota was left. */
function groundless(
  batch: Batch,
  { cap }: Partner,
  registered: readonly Possible[],
  { clockSteps }: History,
): string | null {
  if (cap === null) return 'an application is over the quota of a partner without a cap';
  const toMs = knownAt(batch);
  const { earliestMs } = possible(begunAt(batch), toMs, clockSteps);
  const most = registered.filter(
    ({ begunMs, latestMs }) => begunMs <= toMs && latestMs + WINDOW_MS > earliestMs,
  ).length;
  return most >= cap
    ? null
    : `an application is over the quota of ${cap}, and at most ${most} were in the window`;
}

/** The times of the database's clock between two times of the run. */
function possible(fromMs: number, toMs: number, steps: readonly ClockStep[]): Possible {
  const begun = steps.filter((step) => step.fromMs <= toMs);
  // Of the steps that were surely over before, the last one is in force.
  const last = begun.findLastIndex((step) => step.toMs < fromMs);
  const ahead = begun.slice(Math.max(0, last)).map(({ aheadMs }) => aheadMs);
  if (last < 0) ahead.push(0);
  return { begunMs: fromMs, earliestMs: fromMs + Math.min(...ahead), latestMs: toMs + Math.max(...ahead) };
}
