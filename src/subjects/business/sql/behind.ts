/**
 * Reads the events behind a number of the business, a partner at a time, and the offers. Reads `business_days`,
 * `business_place`, `partners`, `partner_events`, `partner_event_totals` and `contract_evidence`.
 */
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { micros, timeOf } from '../../../ground/postgres/database-time.ts';
import type { OfEvents } from '../rules/behind.ts';
import { NAME_OF_EVENT } from './events.ts';
import type { Narrowed } from './summary.ts';

/** Days in UTC; `after` is the first day after them. */
interface Days {
  readonly period: string;
  readonly after: string;
}

const partnersOf = (number: OfEvents) => `
  SELECT b.partner_id AS id FROM business_days b JOIN partners p ON p.id = b.partner_id
  WHERE b.day >= $1::date AND b.day < $2::date
    AND ($3::integer IS NULL OR b.partner_id = $3) AND ($4::text IS NULL OR p.country = $4)
    AND ($5::text IS NULL OR b.currency = $5) AND b.${number} > 0 AND b.partner_id >= $6
  GROUP BY b.partner_id ORDER BY b.partner_id`;

/** The partners from an id on of which something was counted in these days, by id. */
export async function readCountedPartners(
  session: Session,
  number: OfEvents,
  { period, after }: Days,
  { partnerId, country, currency }: Narrowed,
  from: number,
): Promise<number[]> {
  const { rows } = await session.query<{ id: number }>(partnersOf(number), [
    ...[period, after, partnerId, country, currency, from],
  ]);
  return rows.map(({ id }) => id);
}

/**
 * The numbers of a partner's events in these days lie from `low` up to and without `high`. Halving finds them by the
 * primary key. A clock that stepped moves the ends by less than the hour that is added on each side.
 */
const RANGE = `
  WITH RECURSIVE ends(name, at) AS (
    VALUES ('low', $2::date::timestamp AT TIME ZONE 'UTC' - interval '1 hour'),
      ('high', $3::date::timestamp AT TIME ZONE 'UTC' + interval '1 hour')
  ), half(name, at, low, high, first) AS (
    SELECT n.name, n.at, t.forgotten + 1, t.last + 1, t.forgotten + 1 FROM ends n, partner_event_totals t
    WHERE t.partner_id = $1
    UNION ALL
    SELECT h.name, h.at, CASE WHEN e.at < h.at THEN m.middle + 1 ELSE h.low END,
      CASE WHEN e.at < h.at THEN h.high ELSE m.middle END, h.first
    FROM half h CROSS JOIN LATERAL (SELECT (h.low + h.high) / 2 AS middle) AS m
    JOIN partner_events e ON e.partner_id = $1 AND e.number = m.middle
    WHERE h.low < h.high
  )
  SELECT max(low) FILTER (WHERE name = 'low')::float8 AS low, max(low) FILTER (WHERE name = 'high')::float8 AS high,
    coalesce(max(low) FILTER (WHERE name = 'low') = max(first) AND max(first) > 1, false) AS "isCut"
  FROM half`;

/** `isCut`: events of these days may be deleted; null: the partner has no event. */
export async function readEventRange(
  session: Session,
  partner: number,
  { period, after }: Days,
): Promise<{ readonly low: number; readonly high: number; readonly isCut: boolean } | null> {
  type Row = { low: number | null; high: number | null; isCut: boolean };
  const [row] = (await session.query<Row>(RANGE, [partner, period, after])).rows;
  return row?.low == null || row.high === null ? null : { low: row.low, high: row.high, isCut: row.isCut };
}

/** An event behind a number. */
export interface EventBehind {
  readonly number: number;
  readonly applicationId: number;
  readonly at: Date;
  readonly name: string;
}

const EVENTS = `
  SELECT e.number::float8, e.application_id::float8 AS "applicationId", e.at, ${NAME_OF_EVENT} AS name
  FROM partner_events e
  WHERE e.partner_id = $1 AND e.number >= $2 AND e.number < $3 AND ${NAME_OF_EVENT} = ANY ($4::text[])
    AND e.at >= $5::date::timestamp AT TIME ZONE 'UTC' AND e.at < $6::date::timestamp AT TIME ZONE 'UTC'
  ORDER BY e.number DESC LIMIT $7`;

/** The newest events of these names with a number from `low` up to and without `high`. */
export async function readEventsBehind(
  session: Session,
  {
    partner,
    names,
    days,
    low,
    high,
    limit,
  }: {
    readonly partner: number;
    readonly names: readonly string[];
    readonly days: Days;
    readonly low: number;
    readonly high: number;
    readonly limit: number;
  },
): Promise<EventBehind[]> {
  return (
    await session.query<EventBehind & Record<string, unknown>>(EVENTS, [
      ...[partner, low, high, names, days.period, days.after, limit],
    ])
  ).rows;
}

/** An application whose first offer was shown. */
export interface OfferBehind {
  readonly applicationId: number;
  readonly at: Date;
  /** The same time in microseconds since 1970. */
  readonly micros: number;
}

/** As `note_first_offer` takes them, by an index of the offers alone. */
const OFFERS = `
  SELECT e.application_id::float8 AS "applicationId", e.recorded_at AS at, ${micros('e.recorded_at')}::float8 AS micros
  FROM contract_evidence e
  WHERE e.kind = 'offer_shown' AND e.recorded_at < $2::date::timestamp AT TIME ZONE 'UTC'
    AND e.recorded_at >= greatest($1::date::timestamp AT TIME ZONE 'UTC', (SELECT p.offers_since FROM business_place p))
    AND ($4::bigint IS NULL OR (e.recorded_at, e.application_id) < (${timeOf('$3')}, $4::bigint))
    AND NOT EXISTS (
      SELECT FROM contract_evidence f
      WHERE f.application_id = e.application_id AND f.number < e.number AND f.kind = 'offer_shown')
  ORDER BY e.recorded_at DESC, e.application_id DESC LIMIT $5`;

/** The first offers of these days that count, newest first, after one; null: from the newest on. */
export async function readOffersBehind(
  session: Session,
  { period, after }: Days,
  before: Pick<OfferBehind, 'applicationId' | 'micros'> | null,
  limit: number,
): Promise<OfferBehind[]> {
  const values = [period, after, before?.micros ?? null, before?.applicationId ?? null, limit];
  return (await session.query<OfferBehind & Record<string, unknown>>(OFFERS, values)).rows;
}

/**
 * Evidence without a signed contract is kept for 120 days from its beginning (`forget_contracts`), and an offer may
 * come a month later.
 */
const OLD = 'SELECT $1::date < (now() AT TIME ZONE \'UTC\')::date - 90 AS "isOld"';

/** Whether offers from this day on may be deleted. */
export async function mayLackOffers(session: Session, day: string): Promise<boolean> {
  return onlyRow((await session.query<{ isOld: boolean }>(OLD, [day])).rows).isOld;
}
