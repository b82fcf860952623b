/**
 * Lists the applications behind a number of the business, without personal data (docs/business.md, "The list behind a
 * number"). Reads only. A request reads a bounded part: a page may have few rows, or none, and still a `next`.
 */
import { isAgainstScore } from '../../../domain/application/against-score.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { applicationsDown } from '../../applications/sql/desk/listed.ts';
import { type BehindPlace, isOfEvents, type Listed, type OfEvents } from '../rules/behind.ts';
import type { Period } from '../rules/report-row.ts';
import {
  type EventBehind,
  readCountedPartners,
  readEventRange,
  readEventsBehind,
  readPartnerNames,
  readPartnersOfCountry,
} from '../sql/behind.ts';
import { type CountedApplication, readApplications } from '../sql/events.ts';
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
export interface BehindRow {
  readonly applicationId: number;
  readonly at: Date;
  readonly partner: { readonly id: number; readonly name: string };
  readonly currency: string;
  readonly debtAmount: number;
  readonly score: number;
}

export interface Behind {
  readonly period: string;
  readonly rows: readonly BehindRow[];
  /** Where the next page goes on; null: this is the last one. */
  readonly next: BehindPlace | null;
  /** Events of the period may be deleted, and their applications missing. */
  readonly isCut: boolean;
}

/** Applications that one look reads, and looks of a page. */
const LOOK = 500;
const MOST_LOOKS = 3;
/** Numbers of events that one look goes over. */
const EVENTS_OF_LOOK = 20_000;

export async function applicationsBehind(
  database: Database,
  { number, by, since, narrowed, after, limit }: AskedBehind,
): Promise<Behind> {
  const span = await readSpan(database, by, since);
  const found = isOfEvents(number)
    ? await behindEvents(database, number, span, narrowed, after, limit)
    : { ...(await behindBatches(database, number, span, narrowed, after, limit)), isCut: false };
  const names = await readPartnerNames(
    database,
    found.rows.map(({ partnerId }) => partnerId),
  );
  const rows = found.rows.map(({ partnerId: id, ...row }) => ({
    ...row,
    partner: { id, name: names.get(id) ?? `${id}` },
  }));
  return { ...found, period: span.period, rows };
}

type Unnamed = Omit<BehindRow, 'partner'> & { readonly partnerId: number };

interface Found {
  readonly rows: readonly Unnamed[];
  readonly next: BehindPlace | null;
}

async function behindBatches(
  database: Database,
  number: Exclude<Listed, OfEvents>,
  { period, after: end }: Span,
  narrowed: Narrowed,
  after: BehindPlace | null,
  limit: number,
): Promise<Found> {
  const days = { from: period, to: dayBefore(end) };
  const { country } = narrowed;
  const partners = country === null ? null : await readPartnersOfCountry(database, country);
  const rows: Unnamed[] = [];
  let before = (after?.before ?? null) as ApplicationId | null;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const ids = await applicationsDown(database, days, before, LOOK);
    const read = await readApplications(
      database,
      ids.map(({ id }) => id),
    );
    for (const { id, at } of ids) {
      const one = read.get(id);
      if (one === undefined || !fits(one, narrowed)) continue;
      if (partners !== null && !partners.has(one.partnerId)) continue;
      if (number === 'registered' || one.decision === number) rows.push(rowOf(one, at));
      if (rows.length === limit) return { rows, next: { partner: 0, before: id } };
    }
    if (ids.length < LOOK) return { rows, next: null };
    before = ids.at(-1)!.id;
  }
  return { rows, next: { partner: 0, before: before! } };
}

async function behindEvents(
  database: Database,
  number: OfEvents,
  span: Span,
  narrowed: Narrowed,
  after: BehindPlace | null,
  limit: number,
): Promise<Found & Pick<Behind, 'isCut'>> {
  const names = number === 'overridden' ? ['review_approved', 'review_rejected'] : [number];
  const partners = await readCountedPartners(database, number, span, narrowed, after?.partner ?? 1);
  const rows: Unnamed[] = [];
  let isCut = false;
  let looks = 0;
  for (const partner of partners) {
    const range = await readEventRange(database, partner, span);
    if (range === null) continue;
    isCut ||= range.isCut;
    let high = partner === after?.partner ? Math.min(after.before, range.high) : range.high;
    while (high > range.low) {
      if (looks === MOST_LOOKS) return { rows, next: { partner, before: high }, isCut };
      looks += 1;
      const low = Math.max(range.low, high - EVENTS_OF_LOOK);
      const events = await readEventsBehind(database, { partner, names, days: span, low, high, limit: LOOK });
      const read = await readApplications(
        database,
        events.map((event) => event.applicationId),
      );
      for (const event of events) {
        const one = read.get(event.applicationId);
        if (one !== undefined && fits(one, narrowed) && isBehind(number, event, one))
          rows.push(rowOf(one, event.at));
        if (rows.length === limit) return { rows, next: { partner, before: event.number }, isCut };
      }
      high = events.length < LOOK ? low : events.at(-1)!.number;
    }
  }
  return { rows, next: null, isCut };
}

function isBehind(number: OfEvents, { name }: EventBehind, { score }: CountedApplication): boolean {
  return number !== 'overridden' || isAgainstScore(name === 'review_approved' ? 'approve' : 'reject', score);
}

function fits({ partnerId, currency }: CountedApplication, narrowed: Narrowed): boolean {
  return (
    (narrowed.partnerId === null || partnerId === narrowed.partnerId) &&
    (narrowed.currency === null || currency === narrowed.currency)
  );
}

function rowOf({ id, partnerId, currency, amount, score }: CountedApplication, at: Date): Unnamed {
  return { applicationId: id, at, partnerId, currency, debtAmount: amount, score };
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
