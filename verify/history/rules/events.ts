/** Events of a partner have no gaps and the order of their causes, in the store, in the feed and in the pushes. */
import type { Found, History, Partner, Review, StoredEvent } from '../history.ts';
import type { Lookup } from '../lookup.ts';

export function checkEvents(history: History, lookup: Lookup): Found[] {
  const byPartner = Map.groupBy(history.store.events, ({ partnerId }) => partnerId);
  return history.partners.flatMap((partner) => {
    const stored = (byPartner.get(partner.id) ?? []).toSorted((one, other) => one.number - other.number);
    const texts = [
      ...checkNumbers(stored),
      ...checkCauses(history, partner, stored),
      ...checkOrder(history.reviews, stored),
      ...(partner.isNoted ? checkFeed(history, lookup, partner, stored) : []),
      ...(partner.hasEndpoint ? checkPushes(history, partner, stored) : []),
    ];
    return texts.map((text) => ({ partnerId: partner.id, text }));
  });
}

function checkNumbers(stored: readonly StoredEvent[]): string[] {
  const at = stored.findIndex(({ number }, index) => number !== index + 1);
  return at < 0 ? [] : [`event ${at + 1} is missing: number ${stored[at]!.number} has its place`];
}

/** Each move of an application is one event, in the order of the moves. Events are of the partner's applications. */
function checkCauses({ store }: History, { id }: Partner, stored: readonly StoredEvent[]): string[] {
  const changes = Map.groupBy(
    stored.filter(({ type }) => type === 'application.status_changed'),
    ({ applicationId }) => applicationId,
  );
  const own = store.applications.filter(({ partnerId }) => partnerId === id);
  const ids = new Set(own.map((application) => application.id));
  const strays = stored.filter(({ applicationId }) => !ids.has(applicationId));
  const textOf = (steps: readonly { from: string | null; to: string | null }[]) =>
    steps.map(({ from, to }) => `${from} to ${to}`).join(', ');
  const wrong = own.flatMap((application) => {
    const [moves, told] = [textOf(application.moves), textOf(changes.get(application.id) ?? [])];
    return moves === told ? [] : [`${application.id} moved [${moves}], and its events tell [${told}]`];
  });
  return [
    ...strays.map(({ number }) => `event ${number} is of an application that the partner does not have`),
    ...wrong,
  ];
}

/** A review that was over before another one began has the earlier event. */
function checkOrder(reviews: readonly Review[], stored: readonly StoredEvent[]): string[] {
  const texts: string[] = [];
  let latestStart = Number.NEGATIVE_INFINITY;
  let latest = 0;
  for (const { number, type, applicationId, to } of stored) {
    if (type !== 'application.status_changed') continue;
    const causes = reviews.filter((review) => review.applicationId === applicationId && leadsTo(review, to));
    if (causes.length === 0) continue;
    const isSure = causes.every(({ end }) => end === 'done');
    const toMs = isSure ? Math.max(...causes.map((review) => review.toMs)) : Number.POSITIVE_INFINITY;
    if (toMs < latestStart) texts.push(`event ${number} has an earlier cause than event ${latest}`);
    const fromMs = Math.min(...causes.map((review) => review.fromMs));
    if (fromMs > latestStart) [latestStart, latest] = [fromMs, number];
  }
  return texts;
}

const ENDS = { approve: 'pending_signature', reject: 'rejected', disburse: 'disbursed' } as const;

function leadsTo({ action, end }: Review, to: string | null): boolean {
  return end !== 'refused' && ENDS[action] === to;
}

/** The feed tells every stored event once, in order, with the ID number that the partner sent. */
function checkFeed(
  { feeds }: History,
  lookup: Lookup,
  { id }: Partner,
  stored: readonly StoredEvent[],
): string[] {
  const feed = feeds.find(({ partnerId }) => partnerId === id);
  if (feed === undefined) return ['nobody read its feed'];
  const at = stored.findIndex(({ id: event, type, applicationId }, index) => {
    const told = feed.events[index];
    return told?.id !== event || told.type !== type || told.applicationId !== applicationId;
  });
  const place = at < 0 && feed.events.length > stored.length ? stored.length : at;
  const texts =
    place < 0
      ? []
      : [
          `the feed has ${feed.events.length} of ${stored.length} events, and event ${place + 1} is not at its place`,
        ];
  const wrong = feed.events.filter(
    ({ applicationId, idNumber }) => lookup.stored(applicationId)?.idNumber !== idNumber,
  );
  return wrong.length === 0 ? texts : [...texts, `${wrong.length} events of the feed name another ID number`];
}

/** Each event came, for the first time after the earlier ones of its application, and no event of another partner. */
function checkPushes({ pushes }: History, { id }: Partner, stored: readonly StoredEvent[]): string[] {
  const ids = pushes.find(({ partnerId }) => partnerId === id)?.ids ?? [];
  const places = new Map<string, number>();
  for (const [place, event] of ids.entries()) if (!places.has(event)) places.set(event, place);
  const newest = new Map<number, number>();
  const known = new Set(stored.map((event) => event.id));
  const strays = [...places.keys()].filter((event) => !known.has(event)).length;
  const texts = strays === 0 ? [] : [`${strays} events came to the endpoint that the partner does not have`];
  for (const { id: event, number, applicationId } of stored) {
    const place = places.get(event);
    const before = newest.get(applicationId) ?? -1;
    if (place === undefined) texts.push(`event ${number} did not come to the endpoint`);
    else if (place < before) texts.push(`event ${number} came to the endpoint before an earlier one`);
    newest.set(applicationId, Math.max(place ?? 0, before));
  }
  return texts;
}
