/**
 * Counts the business again from what is stored, for `report --recount`. Reads the counts and their place,
 * `partner_events`, `contract_evidence` and `closed_segments`.
 */
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { AMOUNTS, COUNTS } from '../rules/tally.ts';
import { NAME_OF_EVENT } from './events.ts';

/** The sums of a day. */
export interface DaySums {
  readonly day: string;
  readonly partnerId: number;
  readonly currency: string;
  /** Whole numbers as texts: amounts are in minor units. */
  readonly sums: Readonly<Record<string, string>>;
}

const DAY = "to_char(b.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD')";
const STORED = `
  SELECT ${DAY} AS day, b.partner_id AS "partnerId", b.currency,
    json_build_object(${[...COUNTS, ...AMOUNTS].map((name) => `'${name}', sum(b.${name})::text`).join(', ')}) AS sums
  FROM business_hours b GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** The stored counts by day. */
export async function readStored(session: Session): Promise<DaySums[]> {
  return (await session.query<DaySums & Record<string, unknown>>(STORED)).rows;
}

/** Counted events of a partner and a day that are still there. */
export interface EventSums {
  readonly day: string;
  readonly partnerId: number;
  readonly name: string;
  readonly events: string;
}

const EVENTS = `
  SELECT to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, e.partner_id AS "partnerId", ${NAME_OF_EVENT} AS name,
    count(*)::text AS events
  FROM partner_events e JOIN business_event_places m ON m.partner_id = e.partner_id
  WHERE e.number < m.next_event AND ${NAME_OF_EVENT} IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** The events before the places. */
export async function readEventSums(session: Session): Promise<EventSums[]> {
  return (await session.query<EventSums & Record<string, unknown>>(EVENTS)).rows;
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

const OFFERS = `
  SELECT to_char(f.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::text AS offers
  FROM (
    SELECT e.application_id, (array_agg(e.recorded_at ORDER BY e.number))[1] AS at FROM contract_evidence e
    WHERE e.kind = 'offer_shown' GROUP BY e.application_id) AS f
  WHERE f.at >= (SELECT p.offers_since FROM business_place p)
    AND NOT EXISTS (SELECT FROM business_offers o WHERE o.application_id = f.application_id)
  GROUP BY 1 ORDER BY 1`;

/** By day: first offers that are still known and are counted. */
export async function readOfferSums(session: Session): Promise<Map<string, string>> {
  const { rows } = await session.query<{ day: string; offers: string }>(OFFERS);
  return new Map(rows.map(({ day, offers }) => [day, offers]));
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
