/**
 * Reads what the page of the business shows of a period: the counts of it and of the period before, those of the
 * periods that led to it, the times between steps, and how much of its cap each partner uses. Reads `business_days`,
 * `business_waits`, `partners`, `api_keys` and the usage (D18); no table of applications.
 */
import { STEPS, type Step, secondsOf } from '../../../domain/application/waits.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { type Period, perOf, type ReportRow, type StoredRow, shownRow } from '../rules/report-row.ts';
import { AMOUNTS, COUNTS, REFUSALS } from '../rules/tally.ts';

/** Days in UTC, `YYYY-MM-DD`; `after` is the first day after the period. */
export interface Span {
  readonly first: string;
  readonly before: string;
  readonly period: string;
  readonly after: string;
  readonly isOver: boolean;
}

/** The periods of a picture. */
const PICTURED = { day: 30, week: 13, month: 12 } as const satisfies Record<Period, number>;

const day = (sql: string) => `to_char(${sql}, 'YYYY-MM-DD')`;
const SPAN = `
  SELECT ${day('s.period - s.step * ($3::integer - 1)')} AS first, ${day('s.period - s.step')} AS before,
    ${day('s.period')} AS period, ${day('s.period + s.step')} AS after, s.period + s.step <= s.now AS "isOver"
  FROM (
    SELECT n.now, n.step, date_trunc($1, coalesce($2::date::timestamp, n.now - n.step)) AS period
    FROM (SELECT now() AT TIME ZONE 'UTC' AS now, ('1 ' || $1)::interval AS step) AS n
  ) AS s`;

/** The period that has a day, with what is around it; null: the newest one that is over. */
export async function readSpan(session: Session, by: Period, since: string | null): Promise<Span> {
  const { rows } = await session.query<Span & Record<string, unknown>>(SPAN, [by, since, PICTURED[by]]);
  return onlyRow(rows);
}

/** What is counted; null: all. */
export interface Narrowed {
  readonly partnerId: number | null;
  readonly country: string | null;
  readonly currency: string | null;
}

const sum = (name: string) => `sum(b.${name})::float8 AS ${name}`;
const SUMS = `${[...COUNTS, ...REFUSALS].map(sum).join(', ')},
    ${AMOUNTS.map((name) => `sum(b.${name})::text AS ${name}`).join(', ')},
    sum(${REFUSALS.map((name) => `b.${name}`).join(' + ')})::float8 AS refused`;
/** The days from one to another are in the order of the key. */
const NARROWED = `
  FROM business_days b JOIN partners p ON p.id = b.partner_id
  WHERE b.day >= $1::date AND b.day < $2::date
    AND ($3::integer IS NULL OR b.partner_id = $3) AND ($4::text IS NULL OR p.country = $4)
    AND ($5::text IS NULL OR b.currency = $5)`;

const ROWS = `
  SELECT $1::text AS period, b.partner_id, p.country, b.currency, ${SUMS} ${NARROWED}
  GROUP BY b.partner_id, p.country, b.currency ORDER BY b.partner_id, b.currency`;

/** The counts between two days, a row a partner and currency. */
export async function readRows(
  session: Session,
  [from, to]: readonly [from: string, to: string],
  { partnerId, country, currency }: Narrowed,
): Promise<ReportRow[]> {
  const { rows } = await session.query<StoredRow & Record<string, unknown>>(ROWS, [
    ...[from, to, partnerId, country, currency],
  ]);
  return rows.map(shownRow);
}

/** The decisions of a period. */
export interface PeriodCounts {
  readonly period: string;
  readonly approved: number;
  readonly in_review: number;
  readonly rejected: number;
}

const SERIES = `
  SELECT ${day('date_trunc($6, b.day::timestamp)')} AS period, ${['approved', 'in_review', 'rejected'].map(sum).join(', ')}
  ${NARROWED} GROUP BY 1 ORDER BY 1`;

/** The decisions at the registration by period; one without any is absent. */
export async function readSeries(
  session: Session,
  by: Period,
  { first, after }: Span,
  { partnerId, country, currency }: Narrowed,
): Promise<PeriodCounts[]> {
  return (
    await session.query<PeriodCounts & Record<string, unknown>>(SERIES, [
      ...[first, after, partnerId, country, currency, by],
    ])
  ).rows;
}

/** The median time to a step; `times`: of how many. */
export interface Wait {
  readonly step: Step;
  readonly times: number;
  readonly medianS: number;
}

/** A month has rows of its own, on its first day. */
const WAITS = `
  SELECT DISTINCT ON (r.step) r.step, r.bucket::integer, r.times::float8
  FROM (
    SELECT w.step, w.bucket, sum(w.times) OVER (PARTITION BY w.step) AS times,
      sum(w.times) OVER (PARTITION BY w.step ORDER BY w.bucket) AS up_to
    FROM (
      SELECT b.step, b.bucket, sum(b.times) AS times FROM business_waits b JOIN partners p ON p.id = b.partner_id
      WHERE b.per = $5 AND b.day >= $1::date AND b.day < CASE $5 WHEN 'month' THEN $1::date + 1 ELSE $2::date END
        AND ($3::integer IS NULL OR b.partner_id = $3) AND ($4::text IS NULL OR p.country = $4)
      GROUP BY b.step, b.bucket) AS w) AS r
  WHERE r.up_to * 2 >= r.times ORDER BY r.step, r.bucket`;

/**
 * The median times to the steps in a period from one day to another, in the order of the business's way. Currencies
 * are not apart.
 */
export async function readWaits(
  session: Session,
  by: Period,
  [from, to]: readonly [from: string, to: string],
  { partnerId, country }: Narrowed,
): Promise<Wait[]> {
  const { rows } = await session.query<{ step: Step; bucket: number; times: number }>(WAITS, [
    ...[from, to, partnerId, country, perOf(by)],
  ]);
  return STEPS.flatMap((step) =>
    rows
      .filter((row) => row.step === step)
      .map(({ bucket, times }) => ({ step, times, medianS: secondsOf(bucket) })),
  );
}

/** A partner that is open or has counts in the period, and what it uses of its cap. */
export interface CappedPartner {
  readonly id: number;
  readonly name: string;
  readonly country: string;
  readonly isOpen: boolean;
  readonly used: number;
  /** The largest cap of a live key; null: a key has none, or there is no live key. */
  readonly dailyCap: number | null;
}

const PARTNERS = `
  SELECT p.id, p.name, p.country, p.closed_at IS NULL AS "isOpen", coalesce(usage_at(p.id, now()), 0)::float8 AS used, k.cap::float8 AS "dailyCap"
  FROM partners p
  CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_and(a.daily_cap IS NOT NULL) THEN max(a.daily_cap) END AS cap FROM api_keys a
    WHERE a.partner_id = p.id AND a.revoked_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > now())
      AND a.environment IS DISTINCT FROM 'DEV') AS k
  WHERE p.closed_at IS NULL OR p.id = ANY ($1::integer[]) ORDER BY p.closed_at IS NULL DESC, p.name, p.id LIMIT 2000`;

/** The open partners by name, and then the closed ones among `counted`. */
export async function readPartners(session: Session, counted: readonly number[]): Promise<CappedPartner[]> {
  return (await session.query<CappedPartner & Record<string, unknown>>(PARTNERS, [counted])).rows;
}
