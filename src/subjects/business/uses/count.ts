/**
 * Counts the business, a bounded part a turn of the upkeep (docs/business.md). Any number of processes may do this at
 * once: each batch, event and offer counts once, because the place moves in the transaction of the counts.
 */
import { isAgainstScore } from '../../../domain/application/against-score.ts';
import { toMinor } from '../../../domain/money/money.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../../../ground/base/clock.ts';
import { COUNTRY_CURRENCY } from '../../../ground/base/country-data.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { followDecisions } from '../../evaluation/uses/follow-decisions.ts';
import { NO_CURRENCY, type Place, Tally } from '../rules/tally.ts';
import { addCounts, readPlace } from '../sql/counts.ts';
import {
  type CountedEvent,
  type NewOffer,
  readApplications,
  readEvents,
  readLent,
  readOffered,
  readOffers,
  readReviewed,
  readStarted,
} from '../sql/events.ts';
import { putRefusals, readNow, readRefusals } from '../sql/refusals.ts';

export interface Counting {
  readonly database: Database;
  readonly clock: Clock;
}

/** Counts the batches that came in: their applications by decision, with their amounts. */
export async function countRegistrations(context: Counting): Promise<void> {
  const { database } = context;
  const { turn, next: from } = await readPlace(database);
  const tally = new Tally();
  await followDecisions(context, [
    {
      ...{ from, until: null },
      count: ({ hour, partnerId }, decided, positions) =>
        tallyBatch(tally, { day: hour.slice(0, 10), partnerId }, decided, positions),
      save: async (next) => {
        await inTransaction(database, (session) => addCounts(session, turn, { tally, next }));
      },
      failed: (error) => Promise.reject(error),
    },
  ]);
}

/** Adds the applications of a batch whose facts can be read. */
export function tallyBatch(
  tally: Tally,
  { day, partnerId }: Omit<Place, 'currency'>,
  decided: DecidedFacts,
  positions: number,
): void {
  for (let position = 0; position < positions; position += 1) {
    if (decided.read(position) !== 'read') continue;
    const { currency, debt_amount: amount } = decided.facts;
    const place = { day, partnerId, currency };
    tally.count(place, 'registered');
    tally.count(place, decided.decision);
    tally.add(place, 'amount_registered', toMinor(amount, currency));
  }
}

/** The time of a turn for events, beside that for batches. */
const EVENTS_FOR_MS = 100;

/** Counts the events and the first offers that came in. */
export async function countEvents({ database, clock }: Counting): Promise<void> {
  const untilMs = clock.monotonicMs() + EVENTS_FOR_MS;
  do {
    const { turn } = await readPlace(database);
    const [read, offers] = [await readEvents(database), await readOffers(database)];
    if (read.length === 0 && offers.length === 0) return;
    const tally = await tallyEvents(database, read, offers);
    const events = new Map<number, number>();
    for (const { partnerId, number } of read)
      events.set(partnerId, Math.max(events.get(partnerId) ?? 0, number + 1));
    const ids = offers.map(({ applicationId }) => applicationId);
    const counted = { tally, events, offers: ids };
    if (!(await inTransaction(database, (session) => addCounts(session, turn, counted)))) return;
  } while (clock.monotonicMs() < untilMs);
}

/** Counts events and offers, by statements of a table each: those of the coordinator may not ask other machines. */
export async function tallyEvents(
  database: Database,
  read: readonly CountedEvent[],
  offers: readonly NewOffer[],
): Promise<Tally> {
  const events = read.flatMap(({ name, ...event }) => (name === null ? [] : [{ ...event, name }]));
  const applications = await readApplications(database, idsOf([...events, ...offers]));
  const named = (...names: CountedName[]) => idsOf(events.filter(({ name }) => names.includes(name)));
  const [lent, reviewed, started, offered] = [
    await readLent(database, named('disbursed')),
    await readReviewed(
      database,
      named('started').filter((id) => applications.get(id)?.isReviewed),
    ),
    await readStarted(database, [...named('documents'), ...idsOf(offers)]),
    await readOffered(database, named('signed')),
  ];
  const tally = new Tally();
  for (const { applicationId: id, day, at } of offers) {
    const application = applications.get(id);
    // Nobody knows any more whose offer it was.
    if (application === undefined) continue;
    tally.count({ day, ...application }, 'offered');
    tally.wait({ day, ...application }, 'offer', started.get(id) ?? null, at);
  }
  for (const { applicationId: id, day, at, partnerId, name } of events) {
    const application = applications.get(id);
    const place = { day, partnerId, currency: application?.currency ?? NO_CURRENCY };
    tally.count(place, name);
    if (application === undefined) continue;
    const { amount, currency, score, registeredAt, isReviewed, signedAt } = application;
    switch (name) {
      case 'review_approved':
      case 'review_rejected':
        tally.wait(place, 'review', registeredAt, at);
        if (isAgainstScore(name === 'review_approved' ? 'approve' : 'reject', score))
          tally.count(place, 'overridden');
        break;
      case 'started':
        tally.wait(place, 'start', isReviewed ? (reviewed.get(id) ?? null) : registeredAt, at);
        break;
      case 'documents':
        tally.wait(place, 'documents', started.get(id) ?? null, at);
        break;
      case 'signed':
        tally.wait(place, 'sign', offered.get(id) ?? null, at);
        break;
      case 'disbursed':
        tally.wait(place, 'pay', signedAt, at);
        tally.add(place, 'amount_disbursed', toMinor(lent.get(id) ?? amount, currency));
        break;
      case 'withdrawn':
        break;
    }
  }
  return tally;
}

type CountedName = NonNullable<CountedEvent['name']>;

function idsOf(some: readonly { readonly applicationId: number }[]): number[] {
  return [...new Set(some.map(({ applicationId }) => applicationId))];
}

/** As long as the outcomes of keys are kept, and some days more. */
const FIRST_MS = 35 * DAY_MS;

/**
 * Makes the job that takes over what was refused. A process begins with the days that may have outcomes; later it looks
 * at the days since the turn before, however the clock has stepped meanwhile.
 */
export function countRefusals(): (context: Pick<Counting, 'database'>) => Promise<void> {
  let before: Date | null = null;
  return async ({ database }) => {
    const now = await readNow(database);
    const from = new Date(before === null ? +now - FIRST_MS : Math.min(+before, +now) - 2 * HOUR_MS);
    for await (const page of readRefusals(database, from))
      await putRefusals(database, page, (country) => COUNTRY_CURRENCY[country]);
    before = now;
  };
}
