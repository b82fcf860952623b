/**
 * What the upkeep counts and computes for the drift of the live policy (D51; docs/policy.md, "Drift"). Reads and writes
 * `policy_drift`, `policy_drift_counts` and `policy_psi`. Counts and the place up to which they go change in one
 * transaction.
 */
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

/** Stands for all partners: ids of partners begin at 1. */
export const ALL = 0;
/** Stands for the baseline in place of a day. */
export const BASELINE_DAY = '-infinity';

export interface DriftPlace {
  readonly activationId: number | null;
  /** The first batch number of the baseline. */
  readonly baselineFrom: number;
  /** The first one that has not been counted. */
  readonly next: number;
}

const PLACE = `
  SELECT d.activation_id::float8 AS "activationId", d.baseline_from::float8 AS "baselineFrom", d.next_batch::float8 AS next
  FROM policy_drift d`;

/** How far the drift is counted. */
export async function readPlace(session: Session): Promise<DriftPlace> {
  return (await session.query<DriftPlace & Record<string, unknown>>(PLACE)).rows[0]!;
}

const BEGIN = `
  UPDATE policy_drift SET activation_id = $1, baseline_from = $2, next_batch = $3, computed_at = NULL
  WHERE activation_id IS DISTINCT FROM $1::bigint`;
const FORGET_COUNTS = 'DELETE FROM policy_drift_counts';
const FORGET_INDEXES = 'DELETE FROM policy_psi';

/** Begins anew for an activation. Nothing happens where another session has done so. */
export async function beginDrift(
  session: Transaction,
  { activationId, baselineFrom, next }: DriftPlace,
): Promise<void> {
  if ((await session.query(BEGIN, [activationId, baselineFrom, next])).rowCount !== 1) return;
  await session.query(FORGET_COUNTS);
  await session.query(FORGET_INDEXES);
}

const BASELINES = `
  SELECT c.partner_id AS "partnerId", c.applications::float8 FROM policy_drift_counts c WHERE c.day = '-infinity'`;

/** How many applications the baseline of each partner has, and that of all. */
export async function readBaselines(session: Session): Promise<Map<number, number>> {
  const { rows } = await session.query<{ partnerId: number; applications: number }>(BASELINES);
  return new Map(rows.map(({ partnerId, applications }) => [partnerId, applications]));
}

export interface DriftCounts {
  readonly partner_id: number;
  readonly day: string;
  readonly applications: number;
  readonly bins: readonly number[];
}

const MOVE = 'UPDATE policy_drift SET next_batch = $3 WHERE activation_id = $1 AND next_batch = $2';
const COUNT = `
  INSERT INTO policy_drift_counts AS c (partner_id, day, applications, bins)
  SELECT g.partner_id, g.day, g.applications, g.bins
  FROM jsonb_to_recordset($1::jsonb) AS g(partner_id integer, day date, applications bigint, bins bigint[])
  ORDER BY g.partner_id, g.day
  ON CONFLICT (partner_id, day) DO UPDATE SET applications = c.applications + excluded.applications,
    bins = added_counts(c.bins, excluded.bins)`;
/** Days of the future were counted while the clock was ahead; they go when they are past. */
const FORGET_DAYS = "DELETE FROM policy_drift_counts WHERE day < $1::date AND day > '-infinity'";

/** Adds what was counted up to `next`, and forgets what is older than `since`. False: another session has counted. */
export async function addDriftCounts(
  session: Transaction,
  place: DriftPlace,
  next: number,
  counted: readonly DriftCounts[],
  since: string,
): Promise<boolean> {
  const moved = await session.query(MOVE, [place.activationId, place.next, next]);
  if (moved.rowCount !== 1) return false;
  if (counted.length > 0) await session.query(COUNT, [JSON.stringify(counted)]);
  await session.query(FORGET_DAYS, [since]);
  return true;
}

const CLAIM = `
  UPDATE policy_drift SET computed_at = now()
  WHERE activation_id = $1 AND (computed_at IS NULL OR computed_at NOT BETWEEN now() - interval '1 minute' AND now())`;

/** Whether the indexes of an activation are to be computed now: once a minute, by one process. */
export async function claimIndexes(session: Transaction, activationId: number): Promise<boolean> {
  return (await session.query(CLAIM, [activationId])).rowCount === 1;
}

/** A partner has indexes of its own from so many applications of the window on: the largest ones, so many. */
const LEAST_OF_PARTNER = 1_000;
const MOST_PARTNERS = 20;
const SAMPLES = `
  WITH large AS (
    SELECT c.partner_id FROM policy_drift_counts c WHERE c.day >= $1::date AND c.partner_id <> ${ALL}
    GROUP BY c.partner_id HAVING sum(c.applications) >= ${LEAST_OF_PARTNER}
    ORDER BY sum(c.applications) DESC, c.partner_id LIMIT ${MOST_PARTNERS}
  )
  SELECT c.partner_id AS "partnerId", c.day = '-infinity' AS "isBaseline", c.bins::float8[] AS bins
  FROM policy_drift_counts c
  WHERE (c.partner_id = ${ALL} OR c.partner_id IN (SELECT l.partner_id FROM large l))
    AND (c.day >= $1::date OR c.day = '-infinity')
  ORDER BY c.partner_id`;

export interface Sample {
  readonly partnerId: number;
  readonly isBaseline: boolean;
  readonly bins: readonly number[];
}

/** The counts of the days from `since` on and of the baselines, of all partners together and of large ones. */
export async function readSamples(session: Session, since: string): Promise<Sample[]> {
  return (await session.query<Sample & Record<string, unknown>>(SAMPLES, [since])).rows;
}

export interface StoredIndex {
  readonly partner_id: number;
  readonly characteristic: string;
  readonly psi: number;
  readonly threshold: number;
}

const PUT_INDEXES = `
  INSERT INTO policy_psi (partner_id, characteristic, psi, threshold)
  SELECT g.partner_id, g.characteristic, g.psi, g.threshold
  FROM jsonb_to_recordset($1::jsonb) AS g(partner_id integer, characteristic text, psi float8, threshold float8)`;

/** Stores the indexes in the place of those before. */
export async function putIndexes(session: Transaction, indexes: readonly StoredIndex[]): Promise<void> {
  await session.query(FORGET_INDEXES);
  if (indexes.length > 0) await session.query(PUT_INDEXES, [JSON.stringify(indexes)]);
}
