/**
 * Stored results of backtests (D51; docs/policy.md, "Backtest"). Reads `policy_backtests`; stores by
 * `keep_policy_backtest`, which lets all but the newest 100 go and those that an activation rests on.
 */
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

export interface NewBacktest<Report> {
  readonly version: string;
  /** The digest of what was tried (`digest.ts`), 64 hex digits. */
  readonly sha256: string;
  /** Registrations from this day on, `YYYY-MM-DD` in UTC; null: all. */
  readonly since: string | null;
  readonly by: string;
  /** What `evaluation` makes of it, as JSON. */
  readonly report: Report;
}

export interface StoredBacktest<Report> extends NewBacktest<Report> {
  readonly id: number;
  readonly at: Date;
}

const KEEP = "SELECT keep_policy_backtest($1, $2, decode($3, 'hex'), $4::date, $5, $6::json)";

const READ = `
  SELECT b.id::float8, b.version, encode(b.sha256, 'hex') AS sha256, to_char(b.since, 'YYYY-MM-DD') AS since, b.at,
    b.actor AS by, b.report
  FROM policy_backtests b`;
const READ_ONE = `${READ} WHERE b.id = $1`;
const READ_NEWEST = `${READ} WHERE b.version = $1 ORDER BY b.id DESC LIMIT $2`;
const READ_ALL = `${READ} ORDER BY b.id DESC`;

/** Stores a result, and returns it as it is stored. */
export async function keepBacktest<Report>(
  session: Session,
  backtest: NewBacktest<Report>,
): Promise<StoredBacktest<Report>> {
  const { version, sha256, since, by, report } = backtest;
  const id = await takeId(session, 'policy_backtests');
  await session.query(KEEP, [id, version, sha256, since, by, JSON.stringify(report)]);
  return onlyRow((await session.query<StoredBacktest<Report>>(READ_ONE, [id])).rows);
}

/** A stored result; null: there is none. */
export async function readBacktest<Report>(
  session: Session,
  id: number,
): Promise<StoredBacktest<Report> | null> {
  return (await session.query<StoredBacktest<Report>>(READ_ONE, [id])).rows[0] ?? null;
}

/** The newest stored results of a version. */
export async function newestBacktestsOf<Report>(
  session: Session,
  version: string,
  most: number,
): Promise<StoredBacktest<Report>[]> {
  return (await session.query<StoredBacktest<Report>>(READ_NEWEST, [version, most])).rows;
}

/** All stored results, the newest first. */
export async function listBacktests<Report>(session: Session): Promise<StoredBacktest<Report>[]> {
  return (await session.query<StoredBacktest<Report>>(READ_ALL)).rows;
}
