/**
 * Compares the counts of the business with what they were counted from (docs/business.md, "The recount"). Reads only,
 * all batches and all events. What was deleted since it was counted cannot be counted again: on such days the counts
 * may only be higher.
 */
import { type Clock, DAY_MS, HOUR_MS } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { batchesBetween } from '../../evaluation/sql/decided-batches.ts';
import { type AmountName, type CountName, NO_CURRENCY, REFUSALS, Tally } from '../rules/tally.ts';
import { readPlace } from '../sql/counts.ts';
import {
  type DaySums,
  type EventSums,
  firstWhole,
  readCountedRefusals,
  readEventSums,
  readForgotten,
  readJudged,
  readOfferSums,
  readStored,
} from '../sql/recount.ts';
import { readNow, readRefusals } from '../sql/refusals.ts';
import { tallyBatch, tallyEvents } from './count.ts';

/** A count that is not what was found. */
export interface Difference {
  readonly day: string;
  /** null: of all partners. */
  readonly partnerId: number | null;
  /** null: of all currencies. */
  readonly currency: string | null;
  readonly count: string;
  readonly counted: bigint;
  readonly found: bigint;
}

export interface Recount {
  /** The batches and events up to which was counted, and how much was compared. */
  readonly applications: bigint;
  readonly events: bigint;
  readonly differences: readonly Difference[];
}

/** What registrations count, by partner and currency. */
const REGISTRATIONS = ['registered', 'approved', 'in_review', 'rejected', 'amount_registered'] as const;
const EVENTS = [
  'review_approved',
  'review_rejected',
  'started',
  'documents',
  'signed',
  'withdrawn',
  'disbursed',
] as const;
/** What events count by their application. */
const JUDGED = ['overridden', 'amount_disbursed'] as const satisfies readonly (CountName | AmountName)[];
const PAGE = 250;
const TRIES = 20;
const PAUSE_MS = 50;

/** The counts and what is compared with them, at one turn. Throws where the upkeep counts all the time. */
async function snapshot({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { turn, next } = await readPlace(database);
    const [stored, events, forgotten, offers, judged] = [
      await readStored(database),
      await readEventSums(database),
      await readForgotten(database),
      await readOfferSums(database),
      await judgedEvents(database),
    ];
    if ((await readPlace(database)).turn === turn) return { next, stored, events, forgotten, offers, judged };
    await clock.sleep(PAUSE_MS);
  }
  throw new Error('the counts changed while they were read');
}

/** Counts all again, and compares to the unit. */
export async function recount(context: {
  readonly database: Database;
  readonly clock: Clock;
}): Promise<Recount> {
  const { next, stored, events, forgotten, offers, judged } = await snapshot(context);
  const found = await registrations(context.database, next);
  const counted = sumsOf(stored, REGISTRATIONS, ({ day, partnerId, currency }) => [day, partnerId, currency]);
  const byPartner = sumsOf(stored, EVENTS, ({ day, partnerId }) => [day, partnerId, null]);
  const byEvents = sumsOf(stored, JUDGED, ({ day, partnerId, currency }) => [day, partnerId, currency]);
  const offered = sumsOf(stored, ['offered'], ({ day }) => [day, null, null]);
  const eventsFound = new Map<string, bigint>();
  for (const { day, partnerId, name, events: n } of events)
    addTo(eventsFound, keyOf([day, partnerId, null], name), BigInt(n));
  const isWholeEvents = (day: string, partner: number) => {
    if (!forgotten.has(partner)) return true;
    const first = forgotten.get(partner) ?? null;
    return first !== null && day > first;
  };
  const offersFound = new Map([...offers].map(([day, n]) => [keyOf([day, null, null], 'offered'), n]));
  return {
    applications: sumOf(found.sums, 'registered'),
    events: events.reduce((sum, one: EventSums) => sum + BigInt(one.events), 0n),
    differences: [
      ...compared(counted, found.sums, (day) => found.wholeAfter === null || day > found.wholeAfter),
      ...compared(byPartner, eventsFound, isWholeEvents),
      ...compared(
        byEvents,
        judged.sums,
        (day, partner) => isWholeEvents(day, partner) && !judged.incomplete.has(`${day} ${partner}`),
      ),
      // Evidence goes with its application, and nobody knows of a day whether some has gone.
      ...compared(offered, offersFound, () => false),
      ...(await refusals(context.database)),
    ],
  };
}

/** Counts what events count by their application. `incomplete`: days and partners of which an application is gone. */
async function judgedEvents(
  database: Database,
): Promise<{ sums: Map<string, bigint>; incomplete: ReadonlySet<string> }> {
  const sums = new Map<string, bigint>();
  const incomplete = new Set<string>();
  for await (const events of readJudged(database)) {
    const tally = await tallyEvents(database, events, []);
    for (const { place, counts, amounts } of tally.rows) {
      const at: Place = [place.day, place.partnerId, place.currency];
      if (place.currency === NO_CURRENCY) incomplete.add(`${place.day} ${place.partnerId}`);
      addTo(sums, keyOf(at, 'overridden'), BigInt(counts.get('overridden') ?? 0));
      addTo(sums, keyOf(at, 'amount_disbursed'), amounts.get('amount_disbursed') ?? 0n);
    }
  }
  return { sums, incomplete };
}

/** For so long after a day's end the upkeep may still take over what was refused on it. */
const OPEN_MS = 2 * HOUR_MS;
/** The outcomes of an hour are whole for so long; they are deleted after 30 days. */
const WHOLE_MS = 29 * DAY_MS;

/** Compares what was refused on days that are over with the outcomes of keys that are still there. */
async function refusals(database: Database): Promise<Difference[]> {
  const differences: Difference[] = [];
  const now = (await readNow(database)).getTime();
  for await (const page of readRefusals(database, null)) {
    const closed = page.filter(({ day }) => {
      const ageMs = now - Date.parse(day);
      return ageMs > DAY_MS + OPEN_MS && ageMs < WHOLE_MS;
    });
    const stored = await readCountedRefusals(database, closed);
    for (const [n, { day, partnerId, ...found }] of closed.entries())
      for (const count of REFUSALS) {
        const difference = { counted: BigInt(stored[n]![count]), found: BigInt(found[count]) };
        if (difference.counted !== difference.found)
          differences.push({ day, partnerId, currency: null, count, ...difference });
      }
  }
  return differences;
}

/** Counts the batches before a number. `wholeAfter`: on later days no application was deleted; null: on none. */
async function registrations(
  database: Database,
  before: number,
): Promise<{ sums: Map<string, bigint>; wholeAfter: string | null }> {
  const whole = await firstWhole(database);
  const sums = new Map<string, bigint>();
  let wholeAfter: string | null = null;
  const decided = new DecidedFacts();
  for await (const { batches } of batchesBetween(database, 0, before, PAGE)) {
    const tally = new Tally();
    for (const { id, day, partnerId, facts } of batches) {
      if (Number(id) < whole && (wholeAfter === null || day > wholeAfter)) wholeAfter = day;
      tallyBatch(tally, { day, partnerId }, decided, decided.beginText(facts));
    }
    for (const { place, counts, amounts } of tally.rows) {
      const at: Place = [place.day, place.partnerId, place.currency];
      for (const [name, times] of counts) addTo(sums, keyOf(at, name), BigInt(times));
      for (const [name, minor] of amounts) addTo(sums, keyOf(at, name), minor);
    }
  }
  // Where a whole partition is gone, its last day is at most that of the first batch that is left.
  if (whole > 0 && wholeAfter === null) wholeAfter = await firstDay(database, whole, before);
  return { sums, wholeAfter };
}

async function firstDay(database: Database, from: number, before: number): Promise<string> {
  for await (const { batches } of batchesBetween(database, from, before, 1))
    if (batches[0] !== undefined) return batches[0].day;
  return '9999-12-31';
}

type Place = readonly [day: string, partnerId: number | null, currency: string | null];

function keyOf(place: Place, name: string): string {
  return JSON.stringify([...place, name]);
}

function addTo(sums: Map<string, bigint>, key: string, more: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + more);
}

function sumsOf(
  stored: readonly DaySums[],
  names: readonly string[],
  placeOf: (row: DaySums) => Place,
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const row of stored)
    for (const name of names) addTo(sums, keyOf(placeOf(row), name), BigInt(row.sums[name] ?? 0));
  return sums;
}

function sumOf(sums: ReadonlyMap<string, bigint>, wanted: string): bigint {
  let sum = 0n;
  for (const [key, n] of sums) if (key.endsWith(`,"${wanted}"]`)) sum += n;
  return sum;
}

/** The counts that differ: too low ever, too high only where nothing was deleted. */
function compared(
  counted: ReadonlyMap<string, bigint>,
  found: ReadonlyMap<string, bigint>,
  isWhole: (day: string, partnerId: number) => boolean,
): Difference[] {
  return [...new Set([...counted.keys(), ...found.keys()])].toSorted().flatMap((key) => {
    const [one, other] = [counted.get(key) ?? 0n, found.get(key) ?? 0n];
    const [day, partnerId, currency, count] = JSON.parse(key) as [...Place, string];
    const isRight = one === other || (one > other && !isWhole(day, partnerId ?? 0));
    return isRight ? [] : { day, partnerId, currency, count, counted: one, found: other };
  });
}
