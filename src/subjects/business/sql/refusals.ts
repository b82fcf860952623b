/**
 * Takes over what was refused from the counts of each key's outcomes, which have their hour (D39; docs/refusals.md). A
 * day only grows until its outcomes are deleted, so the larger number is the right one: the take-over may run at any
 * time, by any process. Reads `key_outcomes`, writes `business_days`.
 */
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { REFUSALS } from '../rules/tally.ts';

export interface Refusals {
  /** In UTC, `YYYY-MM-DD`. */
  readonly day: string;
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

/** Days of partners in one statement. */
const AT_ONCE = 2_000;
const DAY = "(o.hour AT TIME ZONE 'UTC')::date";
const READ = `
  SELECT to_char(${DAY}, 'YYYY-MM-DD') AS day, k.partner_id AS "partnerId", p.country, ${REFUSALS.map((name) => `sum(o.${name}) AS ${name}`).join(', ')}
  FROM key_outcomes o JOIN api_keys k ON k.id = o.api_key_id JOIN partners p ON p.id = k.partner_id
  WHERE o.hour >= $1::date::timestamp AT TIME ZONE 'UTC' AND (${DAY} > $1 OR k.partner_id > $2::integer)
    AND o.duplicate + o.over_quota + o.invalid > 0
  GROUP BY ${DAY}, k.partner_id, p.country ORDER BY ${DAY}, k.partner_id LIMIT ${AT_ONCE}`;

/** What was refused from the day of a time on, in pages; null: of all days. */
export async function* readRefusals(
  session: Session,
  from: Date | null,
): AsyncGenerator<readonly Refusals[], void, undefined> {
  for (let [day, after] = [from?.toISOString().slice(0, 10) ?? '-infinity', 0]; ; ) {
    const { rows } = await session.query<Refusals & Record<string, unknown>>(READ, [day, after]);
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    [day, after] = [last.day, last.partnerId];
  }
}

const NAMES = REFUSALS.join(', ');
const TYPES = REFUSALS.map((name) => `${name} bigint`).join(', ');
const VALUES = REFUSALS.map((name) => `g.${name}`).join(', ');
const LARGER = REFUSALS.map((name) => `${name} = greatest(b.${name}, excluded.${name})`).join(', ');
const IS_NEWS = REFUSALS.map((name) => `b.${name} < excluded.${name}`).join(' OR ');
/** A row that says the same already is left as it is. */
const PUT = `
  INSERT INTO business_days AS b (day, partner_id, currency, ${NAMES})
  SELECT g.day, g.partner_id, g.currency, ${VALUES}
  FROM jsonb_to_recordset($1::jsonb) AS g(day date, partner_id integer, currency text, ${TYPES})
  ORDER BY g.day, g.partner_id, g.currency
  ON CONFLICT (day, partner_id, currency) DO UPDATE SET stored_ms = excluded.stored_ms, ${LARGER}
  WHERE ${IS_NEWS}`;

/** Stores what was refused. `currencyOf` says under which currency that of a country counts. */
export async function putRefusals(
  session: Session,
  refusals: readonly Refusals[],
  currencyOf: (country: Country) => string,
): Promise<void> {
  const rows = refusals.map(({ day, partnerId, country, ...counts }) => ({
    ...{ day, partner_id: partnerId, currency: currencyOf(country) },
    ...counts,
  }));
  await session.query(PUT, [JSON.stringify(rows)]);
}
