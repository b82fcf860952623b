/**
 * Where the counts of the business are kept. Counts, the place up to which they go, and the turn change in one
 * transaction. Writes `business_place`, `business_event_places`, `business_days`, `business_totals`, `business_waits`
 * and `business_offers`.
 */
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { AMOUNTS, COUNTS, type Tally } from '../rules/tally.ts';

export interface CountedPlace {
  readonly turn: number;
  /** The first batch number that has not been counted. */
  readonly next: number;
}

const PLACE = 'SELECT p.turn::float8, p.next_batch::float8 AS next FROM business_place p';

/** How far is counted. */
export async function readPlace(session: Session): Promise<CountedPlace> {
  return onlyRow((await session.query<CountedPlace & Record<string, unknown>>(PLACE)).rows);
}

/** What a turn has counted, and what it counts from now on. */
export interface Counted {
  readonly tally: Tally;
  /** All batches before it are counted. */
  readonly next?: number;
  /** By partner: all events before the number are counted. */
  readonly events?: ReadonlyMap<number, number>;
  /** Applications whose first offer is counted. */
  readonly offers?: readonly number[];
}

const MOVE =
  'UPDATE business_place SET turn = turn + 1, next_batch = coalesce($2, next_batch) WHERE turn = $1';
const MOVE_EVENTS = `
  INSERT INTO business_event_places (partner_id, next_event)
  SELECT u.id, u.next FROM unnest($1::integer[], $2::bigint[]) AS u(id, next) ORDER BY u.id
  ON CONFLICT (partner_id) DO UPDATE SET next_event = excluded.next_event`;
const TAKE_OFFERS = 'DELETE FROM business_offers WHERE application_id = ANY ($1::bigint[])';

const COLUMNS = [...COUNTS, ...AMOUNTS];
const TYPES = [...COUNTS.map((name) => `${name} bigint`), ...AMOUNTS.map((name) => `${name} numeric`)].join(
  ', ',
);
const VALUES = COLUMNS.map((name) => `coalesce(g.${name}, 0)`).join(', ');
const ADDED = COLUMNS.map((name) => `${name} = b.${name} + excluded.${name}`).join(', ');
const COUNT = `
  INSERT INTO business_days AS b (day, partner_id, currency, ${COLUMNS.join(', ')})
  SELECT g.day, g.partner_id, g.currency, ${VALUES}
  FROM jsonb_to_recordset($1::jsonb) AS g(day date, partner_id integer, currency text, ${TYPES})
  ORDER BY g.day, g.partner_id, g.currency
  ON CONFLICT (day, partner_id, currency) DO UPDATE SET stored_ms = excluded.stored_ms, ${ADDED}`;

/** `ventanilla_applications_total` has what was registered. */
const TOTALS = COUNTS.filter((name) => name !== 'registered');
const TOTAL_TYPES = TOTALS.map((name) => `${name} bigint`).join(', ');
const TOTAL_SUMS = TOTALS.map((name) => `coalesce(sum(g.${name}), 0)`).join(', ');
const TOTAL_ADDED = TOTALS.map((name) => `${name} = b.${name} + excluded.${name}`).join(', ');
const COUNT_TOTALS = `
  INSERT INTO business_totals AS b (partner_id, ${TOTALS.join(', ')})
  SELECT g.partner_id, ${TOTAL_SUMS} FROM jsonb_to_recordset($1::jsonb) AS g(partner_id integer, ${TOTAL_TYPES})
  GROUP BY g.partner_id ORDER BY g.partner_id
  ON CONFLICT (partner_id) DO UPDATE SET ${TOTAL_ADDED}`;

const WAITS = `
  INSERT INTO business_waits AS b (day, per, partner_id, step, bucket, times)
  SELECT date_trunc(p.per, u.day)::date, p.per, u.partner_id, u.step, u.bucket, sum(u.times)
  FROM unnest($1::date[], $2::integer[], $3::text[], $4::smallint[], $5::bigint[])
      AS u(day, partner_id, step, bucket, times),
    unnest('{day,month}'::text[]) AS p(per)
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (day, per, partner_id, step, bucket)
  DO UPDATE SET stored_ms = excluded.stored_ms, times = b.times + excluded.times`;

/** Adds what was counted since `turn`. False: another session has counted meanwhile, and nothing is added. */
export async function addCounts(
  session: Transaction,
  turn: number,
  { tally, next, events, offers = [] }: Counted,
): Promise<boolean> {
  const moved = await session.query(MOVE, [turn, next ?? null]);
  if (moved.rowCount !== 1) return false;
  if (events !== undefined) await session.query(MOVE_EVENTS, [[...events.keys()], [...events.values()]]);
  if (offers.length > 0) await session.query(TAKE_OFFERS, [offers]);
  const { rows, waits } = tally;
  if (waits.length > 0)
    await session.query(WAITS, [
      waits.map(({ day }) => day),
      waits.map(({ partnerId }) => partnerId),
      waits.map(({ step }) => step),
      waits.map(({ bucket }) => bucket),
      waits.map(({ times }) => times),
    ]);
  if (rows.length === 0) return true;
  const counted = JSON.stringify(
    rows.map(({ place: { day, partnerId, currency }, counts, amounts }) => ({
      ...{ day, partner_id: partnerId, currency },
      ...Object.fromEntries(counts),
      // JSON has no whole numbers of this size.
      ...Object.fromEntries([...amounts].map(([name, minor]) => [name, `${minor}`])),
    })),
  );
  await session.query(COUNT, [counted]);
  await session.query(COUNT_TOTALS, [counted]);
  return true;
}
