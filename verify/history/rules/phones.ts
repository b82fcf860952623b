/** No phone has two open applications at any time, and no client is told of one that there is not. */
import { isOpen } from '../../../src/domain/application/lifecycle.ts';
import type { Found, History, StoredApplication } from '../history.ts';
import { answered, begunAt, knownAt, type Lookup } from '../lookup.ts';

/** A time in which an application was open. */
interface Open {
  readonly application: StoredApplication;
  readonly fromMs: number;
  readonly toMs: number;
}

export function checkPhones(history: History, lookup: Lookup): Found[] {
  const byPhone = Map.groupBy(
    history.store.applications.filter(({ phone }) => phone !== null),
    ({ phone }) => phone as string,
  );
  const twice = [...byPhone.values()].flatMap((applications) => openTogether(applications, lookup));
  const possible = new Map(
    [...byPhone].map(([phone, applications]) => [
      phone,
      applications.flatMap((application) => possiblyOpen(application, lookup)),
    ]),
  );
  return [...twice, ...groundlessRefusals(history, possible)];
}

function openTogether(applications: readonly StoredApplication[], lookup: Lookup): Found[] {
  const found: Found[] = [];
  const texts = (one: StoredApplication, other: StoredApplication) =>
    `applications ${other.id} and ${one.id} were open for one phone`;
  const atTheEnd = applications.filter(({ status }) => isOpen(status));
  for (const [index, one] of atTheEnd.entries()) {
    if (index > 0) found.push({ partnerId: one.partnerId, text: texts(one, atTheEnd[0]!) });
  }
  const times = applications
    .flatMap((application) => surelyOpen(application, lookup))
    .toSorted((one, other) => one.fromMs - other.fromMs);
  let last: Open | undefined;
  for (const time of times) {
    if (last !== undefined && time.fromMs < last.toMs) {
      found.push({ partnerId: time.application.partnerId, text: texts(time.application, last.application) });
    }
    if (last === undefined || time.toMs > last.toMs) last = time;
  }
  return found;
}

/** From the answer that told it to the beginning of the first review that may have closed it. */
function surelyOpen(application: StoredApplication, lookup: Lookup): Open[] {
  const sent = lookup.sent(application);
  if (sent === undefined || !beganOpen(application)) return [];
  const closing = closingReviews(application, lookup);
  const toMs = isOpen(application.status)
    ? Number.POSITIVE_INFINITY
    : Math.min(...closing.map((review) => review.fromMs));
  const fromMs = knownAt(sent.batch);
  return fromMs < toMs ? [{ application, fromMs, toMs }] : [];
}

/** From the first request to the end of the last review that may have closed it. */
function possiblyOpen(application: StoredApplication, lookup: Lookup): Open[] {
  const sent = lookup.sent(application);
  if (sent === undefined || !beganOpen(application)) return [];
  const closing = closingReviews(application, lookup);
  // A review whose answer was lost may come into force after its connection died.
  const isSure = !isOpen(application.status) && closing.every(({ end }) => end === 'done');
  const toMs = isSure ? Math.max(...closing.map((review) => review.toMs)) : Number.POSITIVE_INFINITY;
  return [{ application, fromMs: begunAt(sent.batch), toMs }];
}

function beganOpen({ moves, status }: StoredApplication): boolean {
  return isOpen(moves[0]?.from ?? status);
}

function closingReviews({ id }: StoredApplication, lookup: Lookup) {
  return lookup.reviewsOf(id).filter(({ action, end }) => action !== 'approve' && end !== 'refused');
}

function groundlessRefusals({ batches }: History, possible: ReadonlyMap<string, readonly Open[]>): Found[] {
  return batches.flatMap((batch) => {
    const [first] = answered(batch);
    if (first === undefined) return [];
    const duplicates = batch.applications.filter(
      (_, position) => first.answer.outcomes?.[position]?.kind === 'duplicate',
    );
    const since = begunAt(batch);
    return duplicates
      .filter(({ phone }) => {
        const times = possible.get(phone) ?? [];
        return !times.some(({ fromMs, toMs }) => fromMs <= first.toMs && toMs >= since);
      })
      .map(({ idNumber }) => ({
        partnerId: batch.partnerId,
        text: `the application of ${idNumber} was refused as a duplicate, and its phone had no open one`,
      }));
  });
}
