/** No window of a partner is over its cap, whatever the database's clock did. */
import type { Found, History, Partner } from '../history.ts';
import { begunAt, knownAt, type Lookup } from '../lookup.ts';
import { checkOverQuota } from './over-quota.ts';

/**
 * Between two steps of the database's clock a partner registers at most its cap: a run takes less than the 24 hours of
 * a window. What may have come before or after a step is left out.
 */
export function checkQuota(history: History, lookup: Lookup): Found[] {
  const capped = history.partners.filter((partner) => partner.cap !== null);
  return [
    ...capped.flatMap((partner) => [
      ...countWindows(history, lookup, partner),
      ...checkReadings(history, partner),
    ]),
    ...checkOverQuota(history, lookup),
  ];
}

function countWindows(history: History, lookup: Lookup, { id, cap }: Partner): Found[] {
  const stored = history.store.applications.filter(({ partnerId }) => partnerId === id);
  const times = stored.map((application) => {
    const sent = lookup.sent(application);
    if (sent === undefined) return { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
    return { fromMs: begunAt(sent.batch), toMs: knownAt(sent.batch) };
  });
  const steps = history.clockSteps.toSorted((one, other) => one.fromMs - other.fromMs);
  const starts = [Number.NEGATIVE_INFINITY, ...steps.map(({ toMs }) => toMs)];
  const ends = [...steps.map(({ fromMs }) => fromMs), Number.POSITIVE_INFINITY];
  return starts.flatMap((start, index) => {
    const end = ends[index]!;
    const count = times.filter(({ fromMs, toMs }) => fromMs >= start && toMs <= end).length;
    return count <= cap!
      ? []
      : [{ partnerId: id, text: `${count} registered in a window, and the cap is ${cap}` }];
  });
}

/** A step of the clock may bring old registrations back into the window, so later readings may be over the cap. */
function checkReadings({ quota, clockSteps }: History, { id, cap }: Partner): Found[] {
  const firstStep = Math.min(...clockSteps.map(({ fromMs }) => fromMs));
  return quota
    .filter(({ partnerId }) => partnerId === id)
    .filter(({ used, toMs }) => used < 0 || (used > cap! && toMs < firstStep))
    .map(({ used }) => ({ partnerId: id, text: `GET /PRO told ${used} used of ${cap}` }));
}
