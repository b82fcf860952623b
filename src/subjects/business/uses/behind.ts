/**
 * Lists the applications behind a number of the business, without personal data (docs/business.md, "The list behind a
 * number"). Reads only. A request reads a bounded part: a page may have few rows, or none, and still a `next`.
 */
import { isAgainstScore } from '../../../domain/application/against-score.ts';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import {
  applicationsDown,
  type ListedApplication,
  type ListFilter,
  readListed,
} from '../../applications/sql/desk/listed.ts';
import { type BehindPlace, isOfEvents, type Listed, type OfEvents } from '../rules/behind.ts';
import type { Period } from '../rules/report-row.ts';
import {
  mayLackOffers,
  readCountedPartners,
  readEventRange,
  readEventsBehind,
  readOffersBehind,
} from '../sql/behind.ts';
import { type Narrowed, readSpan, type Span } from '../sql/summary.ts';

export interface AskedBehind {
  readonly number: Listed;
  readonly by: Period;
  /** A day of the period; null: the newest period that is over. */
  readonly since: string | null;
  readonly narrowed: Narrowed;
  /** null: from the beginning. */
  readonly after: BehindPlace | null;
  readonly limit: number;
}

/** An application behind a number; `at`: when that happened. */
export interface BehindRow extends ReadableApplication {
  readonly applicationId: ApplicationId;
  readonly at: Date;
}

interface Found {
  readonly rows: readonly BehindRow[];
  /** Where the next page goes on; null: this is the last one. */
  readonly next: BehindPlace | null;
  /** Events or offers of the period may be deleted, and their applications missing. */
  readonly isCut: boolean;
}

/** Applications that one look reads, and looks of a page. */
const LOOK = 500;
const MOST_LOOKS = 3;
/** Numbers of events that one look goes over. */
const EVENTS_OF_LOOK = 20_000;

export async function applicationsBehind(
  database: Database,
  { by, since, ...asked }: AskedBehind,
): Promise<Found & { readonly period: string }> {
  const span = await readSpan(database, by, since);
  return { period: span.period, ...(await pageBehind(database, span, asked)) };
}

type Asked = Pick<AskedBehind, 'number' | 'narrowed' | 'after' | 'limit'>;

async function pageBehind(database: Database, span: Span, { number, ...asked }: Asked): Promise<Found> {
  if (isOfEvents(number)) return behindEvents(database, span, { ...asked, number });
  if (number === 'offered') return behindOffers(database, span, asked);
  return behindBatches(database, span, { ...asked, number });
}

async function behindBatches(
  database: Database,
  { period, after: end }: Span,
  { number, ...asked }: Asked,
): Promise<Found> {
  const days = { from: period, to: dayBefore(end) };
  const down = async (after: BehindPlace | null) => {
    const before = (after?.before ?? null) as ApplicationId | null;
    const some = await applicationsDown(database, days, before, LOOK);
    return some.map(({ id, at }) => ({ id, at, place: { part: 0, before: id } }));
  };
  const fits = ({ decision }: ReadableApplication) => number === 'registered' || decision === number;
  return { ...(await goDown(database, asked, down, fits)), isCut: false };
}

async function behindOffers(database: Database, span: Span, asked: Omit<Asked, 'number'>): Promise<Found> {
  const down = async (after: BehindPlace | null) => {
    const before = after && { micros: after.part, applicationId: after.before };
    const some = await readOffersBehind(database, span, before, LOOK);
    return some.map(({ applicationId: id, at, micros: part }) => ({
      ...{ id: toApplicationId(id), at },
      place: { part, before: id },
    }));
  };
  const isCut = await mayLackOffers(database, span.period);
  return { ...(await goDown(database, asked, down, () => true)), isCut };
}

/** An application at its place in a list. */
interface Placed {
  readonly id: ApplicationId;
  readonly at: Date;
  readonly place: BehindPlace;
}

/** A page of a list of which `down` reads the next applications after a place: `LOOK` of them, or all that are left. */
async function goDown(
  database: Database,
  { narrowed, after, limit }: Omit<Asked, 'number'>,
  down: (after: BehindPlace | null) => Promise<readonly Placed[]>,
  fits: (application: ReadableApplication) => boolean,
): Promise<Pick<Found, 'rows' | 'next'>> {
  const rows: BehindRow[] = [];
  let last = after;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const placed = await down(last);
    const ids = placed.map(({ id }) => id);
    const listed = await readListed(database, ids, filterOf(narrowed));
    for (const { id, at, place } of placed) {
      const one = readable(listed.get(id));
      if (one !== null && fits(one)) rows.push({ ...one, applicationId: id, at });
      if (rows.length === limit) return { rows, next: place };
    }
    if (placed.length < LOOK) return { rows, next: null };
    last = placed.at(-1)!.place;
  }
  return { rows, next: last };
}

async function behindEvents(
  database: Database,
  span: Span,
  { number, narrowed, after, limit }: Asked & { readonly number: OfEvents },
): Promise<Found> {
  const names = number === 'overridden' ? ['review_approved', 'review_rejected'] : [number];
  const partners = await readCountedPartners(database, number, span, narrowed, after?.part ?? 1);
  const rows: BehindRow[] = [];
  let isCut = false;
  let looks = 0;
  for (const partner of partners) {
    const range = await readEventRange(database, partner, span);
    if (range === null) continue;
    isCut ||= range.isCut;
    let high = partner === after?.part ? Math.min(after.before, range.high) : range.high;
    while (high > range.low) {
      if (looks === MOST_LOOKS) return { rows, next: { part: partner, before: high }, isCut };
      looks += 1;
      const low = Math.max(range.low, high - EVENTS_OF_LOOK);
      const events = await readEventsBehind(database, { partner, names, days: span, low, high, limit: LOOK });
      const ids = events.map((event) => toApplicationId(event.applicationId));
      const listed = await readListed(database, ids, filterOf(narrowed));
      for (const { applicationId, at, name, number: place } of events) {
        const one = readable(listed.get(toApplicationId(applicationId)));
        if (one !== null && (number !== 'overridden' || isOverride(name, one)))
          rows.push({ ...one, applicationId: toApplicationId(applicationId), at });
        if (rows.length === limit) return { rows, next: { part: partner, before: place }, isCut };
      }
      high = events.length < LOOK ? low : events.at(-1)!.number;
    }
  }
  return { rows, next: null, isCut };
}

function isOverride(name: string, { score }: ReadableApplication): boolean {
  return isAgainstScore(name === 'review_approved' ? 'approve' : 'reject', score);
}

function filterOf({ partnerId, country, currency }: Narrowed): ListFilter {
  return {
    partner: partnerId ?? undefined,
    country: country ?? undefined,
    currency: currency ?? undefined,
  };
}

type ReadableApplication = {
  readonly [Name in 'partner' | 'decision' | 'score' | 'currency' | 'debtAmount']: NonNullable<
    ListedApplication[Name]
  >;
};

/** Damaged applications count nowhere. null: it is damaged, or absent. */
function readable(listed: ListedApplication | undefined): ReadableApplication | null {
  if (listed === undefined) return null;
  const { partner, decision, score, currency, debtAmount } = listed;
  const isWhole = decision !== null && score !== null && currency !== null && debtAmount !== null;
  return isWhole ? { partner, decision, score, currency, debtAmount } : null;
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
