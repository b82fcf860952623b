/**
 * Takes over what was refused from the counts of each key's outcomes, which have their hour (D39; docs/refusals.md). A
 * key's hour only grows, so the larger number is the newer one: the take-over may run at any time, by any process.
 * Reads `key_outcomes`, writes `business_hours`.
 */
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { REFUSALS } from '../rules/tally.ts';

export interface Refusals {
  readonly hour: Date;
  readonly partnerId: number;
  readonly country: Country;
  readonly duplicate: string;
  readonly over_quota: string;
  readonly invalid: string;
}

const NOW = 'SELECT now() AS now';

/** The database's clock. */
export async function readNow(session: Session): Promise<Date> {
  return (await session.query<{ now: Date }>(NOW)).rows[0]!.now;
}

/** Hours of partners in one statement. */
const AT_ONCE = 2_000;
const READ = `
  SELECT o.hour, k.partner_id AS "partnerId", p.country, ${REFUSALS.map((name) => `sum(o.${name}) AS ${name}`).join(', ')}
  FROM key_outcomes o JOIN api_keys k ON k.id = o.api_key_id JOIN partners p ON p.id = k.partner_id
  WHERE o.hour >= $1::timestamptz AND (o.hour > $1 OR k.partner_id > $2::integer)
    AND o.duplicate + o.over_quota + o.invalid > 0
  GROUP BY o.hour, k.partner_id, p.country ORDER BY o.hour, k.partner_id LIMIT ${AT_ONCE}`;

/** What was refused from an hour on, in pages. */
export async function* readRefusals(
  session: Session,
  from: Date | null,
): AsyncGenerator<readonly Refusals[], void, undefined> {
  for (let [hour, after]: [Date | string, number] = [from ?? '-infinity', 0]; ; ) {
    const { rows } = await session.query<Refusals & Record<string, unknown>>(READ, [hour, after]);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    [hour, after] = [last.hour, last.partnerId];
  }
}

const NAMES = REFUSALS.join(', ');
const TYPES = REFUSALS.map((name) => `${name} bigint`).join(', ');
const VALUES = REFUSALS.map((name) => `g.${name}`).join(', ');
const LARGER = REFUSALS.map((name) => `${name} = greatest(b.${name}, excluded.${name})`).join(', ');
const IS_NEWS = REFUSALS.map((name) => `b.${name} < excluded.${name}`).join(' OR ');
/** A row that says the same already is left as it is. */
const PUT = `
  INSERT INTO business_hours AS b (hour, partner_id, currency, ${NAMES})
  SELECT g.hour, g.partner_id, g.currency, ${VALUES}
  FROM jsonb_to_recordset($1::jsonb) AS g(hour timestamptz, partner_id integer, currency text, ${TYPES})
  ORDER BY g.hour, g.partner_id, g.currency
  ON CONFLICT (hour, partner_id, currency) DO UPDATE SET stored_ms = excluded.stored_ms, ${LARGER}
  WHERE ${IS_NEWS}`;

/** Stores what was refused. `currencyOf` says under which currency that of a country counts. */
export async function putRefusals(
  session: Session,
  refusals: readonly Refusals[],
  currencyOf: (country: Country) => string,
): Promise<void> {
  const rows = refusals.map(({ hour, partnerId, country, ...counts }) => ({
    ...{ hour, partner_id: partnerId, currency: currencyOf(country) },
    ...counts,
  }));
  await session.query(PUT, [JSON.stringify(rows)]);
}
