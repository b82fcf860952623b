/**
 * Counts the business again from what is stored, for `report --recount`. Reads the counts and their place,
 * `partner_events`, `contract_evidence` and `closed_segments`.
 */
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { AMOUNTS, COUNTS, REFUSALS, type RefusalName } from '../rules/tally.ts';
import { type CountedEvent, NAME_OF_EVENT } from './events.ts';
import type { Refusals } from './refusals.ts';

/** The sums of a day. */
export interface DaySums {
  readonly day: string;
  readonly partnerId: number;
  readonly currency: string;
  /** Whole numbers as texts: amounts are in minor units. */
  readonly sums: Readonly<Record<string, string>>;
}

/** Rows of a statement, which so ends within three seconds, however much is stored. */
const AT_ONCE = 20_000;

/** Reads all parts. `text` tells in each row the place where its part ends, as the parameters of the next part. */
async function inParts<Row>(session: Session, text: string, first: readonly string[]): Promise<Row[]> {
  const found: Row[] = [];
  for (let from = first; ; ) {
    const { rows } = await session.query<Row & { readonly last: readonly string[] }>(text, [...from]);
    if (rows.length === 0) return found;
    found.push(...rows);
    from = rows[0]!.last;
  }
}

const DAY = "to_char(b.day, 'YYYY-MM-DD')";
const STORED = `
  SELECT ${DAY} AS day, b.partner_id AS "partnerId", b.currency, ARRAY[max(max(b.day)) OVER ()::text] AS last,
    json_build_object(${[...COUNTS, ...AMOUNTS].map((name) => `'${name}', sum(b.${name})::text`).join(', ')}) AS sums
  FROM (
    SELECT h.* FROM business_days h WHERE h.day > $1::date
    ORDER BY h.day FETCH FIRST ${AT_ONCE} ROWS WITH TIES) AS b
  GROUP BY 1, 2, 3`;

/** The stored counts by day. A day may come in several parts. */
export function readStored(session: Session): Promise<DaySums[]> {
  return inParts(session, STORED, ['-infinity']);
}

/** Counted events of a partner and a day that are still there. */
export interface EventSums {
  readonly day: string;
  readonly partnerId: number;
  readonly name: string;
  readonly events: string;
}

/** Events that count for nothing have no name, and lead to the next part. */
const EVENTS = `
  SELECT to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, e.partner_id AS "partnerId", ${NAME_OF_EVENT} AS name,
    count(*) FILTER (WHERE e.number < m.next_event)::text AS events,
    (max(max(ARRAY[e.partner_id::bigint, e.number])) OVER ())::text[] AS last
  FROM (
    SELECT v.* FROM partner_events v WHERE (v.partner_id, v.number) > ($1::integer, $2::bigint)
    ORDER BY v.partner_id, v.number LIMIT ${AT_ONCE}) AS e
  LEFT JOIN business_event_places m ON m.partner_id = e.partner_id
  GROUP BY 1, 2, 3`;

/** The events before the places. A day may come in several parts. */
export async function readEventSums(session: Session): Promise<EventSums[]> {
  const all = await inParts<EventSums & { readonly name: string | null }>(session, EVENTS, ['0', '0']);
  return all.filter(({ name, events }) => name !== null && events !== '0');
}

/** Events of other kinds lead to the next part. */
const JUDGED = `
  SELECT e.partner_id AS "partnerId", e.number::float8, e.application_id::float8 AS "applicationId", e.at,
    to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    CASE WHEN e.number < m.next_event THEN ${NAME_OF_EVENT} END AS name,
    (max(ARRAY[e.partner_id::bigint, e.number]) OVER ())::text[] AS last
  FROM (
    SELECT v.* FROM partner_events v WHERE (v.partner_id, v.number) > ($1::integer, $2::bigint)
      AND v.type = 'application.status_changed'
    ORDER BY v.partner_id, v.number LIMIT 2000) AS e
  LEFT JOIN business_event_places m ON m.partner_id = e.partner_id`;

/**
 * The counted events whose count depends on their application: reviews and payments, in parts that one statement can
 * look up.
 */
export async function* readJudged(session: Session): AsyncGenerator<CountedEvent[], void, undefined> {
  for (let from: readonly string[] = ['0', '0']; ; ) {
    const { rows } = await session.query<CountedEvent & { readonly last: readonly string[] }>(JUDGED, [
      ...from,
    ]);
    if (rows.length === 0) return;
    yield rows;
    from = rows[0]!.last;
  }
}

const COUNTED_REFUSALS = `
  SELECT ${REFUSALS.map((name) => `coalesce(b.${name}, 0)::text AS ${name}`).join(', ')}
  FROM unnest($1::date[], $2::integer[]) WITH ORDINALITY AS u(day, partner_id, n)
  CROSS JOIN LATERAL (
    SELECT ${REFUSALS.map((name) => `sum(h.${name}) AS ${name}`).join(', ')}
    FROM business_days h WHERE h.day = u.day AND h.partner_id = u.partner_id) AS b
  ORDER BY u.n`;

/** What is counted of days and partners, in their order. */
export async function readCountedRefusals(
  session: Session,
  of: readonly Refusals[],
): Promise<readonly Record<RefusalName, string>[]> {
  const days = of.map(({ day }) => day);
  const partners = of.map(({ partnerId }) => partnerId);
  return (await session.query<Record<RefusalName, string>>(COUNTED_REFUSALS, [days, partners])).rows;
}

const WHOLE_SINCE = `
  SELECT t.partner_id AS "partnerId", to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
  FROM partner_event_totals t LEFT JOIN partner_events e ON e.partner_id = t.partner_id AND e.number = t.forgotten + 1
  WHERE t.forgotten > 0`;

/** By partner whose old events are deleted: the day of the first one that is left; null: none is left. */
export async function readForgotten(session: Session): Promise<Map<number, string | null>> {
  const { rows } = await session.query<{ partnerId: number; day: string | null }>(WHOLE_SINCE);
  return new Map(rows.map(({ partnerId, day }) => [partnerId, day]));
}

/** Applications without an offer have no day, and lead to the next part. */
const OFFERS = `
  SELECT to_char(f.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    count(*) FILTER (WHERE f.at >= (SELECT p.offers_since FROM business_place p)
      AND NOT EXISTS (SELECT FROM business_offers o WHERE o.application_id = f.application_id))::text AS offers,
    ARRAY[max(max(f.application_id)) OVER ()::text] AS last
  FROM (
    SELECT e.application_id,
      (array_agg(e.recorded_at ORDER BY e.number) FILTER (WHERE e.kind = 'offer_shown'))[1] AS at
    FROM (
      SELECT v.application_id, v.number, v.kind, v.recorded_at FROM contract_evidence v WHERE v.application_id > $1::bigint
      ORDER BY v.application_id FETCH FIRST ${AT_ONCE} ROWS WITH TIES) AS e
    GROUP BY e.application_id) AS f
  GROUP BY 1`;

/** By day: first offers that are still known and are counted. */
export async function readOfferSums(session: Session): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>();
  const all = await inParts<{ readonly day: string | null; readonly offers: string }>(session, OFFERS, ['0']);
  for (const { day, offers } of all)
    if (day !== null && offers !== '0') sums.set(day, (sums.get(day) ?? 0n) + BigInt(offers));
  return sums;
}

/** The first partition that is left; before it all applications are deleted. */
const WHOLE = `
  SELECT greatest(
    (SELECT max(s.ends_at) FROM closed_segments s WHERE s.written_ms IS NOT NULL),
    (SELECT min(substring(c.relname FROM 'batches_to_([0-9]+)')::bigint) - partition_width()
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'batches'::regclass))::float8 AS first`;

/** The first batch number from which on no application was deleted for its age. */
export async function firstWhole(session: Session): Promise<number> {
  return onlyRow((await session.query<{ first: number | null }>(WHOLE)).rows).first ?? 0;
}
