/**
 * Deletes applications for their age by a retention, and keeps the least retention in the tables (docs/operations.md,
 * "How long applications are kept"; docs/roles.md, "The retention"). Reads `batches` and `application_states`, reads
 * and writes `least_retention`.
 */
import type { BatchId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { Retention } from '../../../domain/application/retention.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { forgetPartitions, withTime } from './partitions.ts';

/** Longer than any store is old: an interval of the database holds it. */
const FOR_EVER = 1_000_000;

/** The database's code: the owner of the tables keeps applications for longer. */
const KEPT_LONGER = 'VN007';
const TELL_THE_OWNER =
  'the owner of the tables keeps applications for longer than this retention: run `ventanilla migrate` with the RETENTION_DAYS or RETENTION_POLICY of now (docs/roles.md)';

/**
 * Deletes what is old by a retention, as `forgetPartitions` does. Throws a `ToldError` if the owner of the tables keeps
 * applications for longer (`putLeastRetention`).
 */
export function forgetBy(
  database: Database,
  clock: Clock,
  retention: Retention,
  onUnreadable?: (batchIds: readonly BatchId[]) => void,
): Promise<number> {
  const [rejected, disbursed] = daysOf(retention);
  return forgetPartitions(database, clock, rejected, onUnreadable, disbursed).catch((error: unknown) => {
    throw errorCode(error) === KEPT_LONGER ? new ToldError(TELL_THE_OWNER) : error;
  });
}

const LEAST = 'SELECT rejected = $1 AND disbursed = $2 AS is_least FROM least_retention';
const PUT_LEAST = 'UPDATE least_retention SET rejected = $1, disbursed = $2';

/** Whether the tables allow to delete applications by exactly this retention. */
export async function isLeastRetention(database: Database, retention: Retention): Promise<boolean> {
  const { rows } = await database.query<{ is_least: boolean }>(LEAST, daysOf(retention));
  return onlyRow(rows).is_least;
}

/**
 * Makes the tables refuse to delete applications earlier than this retention, whoever asks. `tables`: sessions of the
 * owner.
 */
export async function putLeastRetention(tables: Database, retention: Retention): Promise<void> {
  await tables.query(PUT_LEAST, daysOf(retention));
}

function daysOf({ rejected, disbursed }: Retention): [rejected: number, disbursed: number] {
  return [rejected ?? FOR_EVER, disbursed ?? FOR_EVER];
}

/** Applications of a month and a status that are old enough to be deleted. */
export interface Due {
  /** The month of the registration, in UTC: `2026-11`. */
  readonly month: string;
  readonly status: ApplicationStatus;
  readonly applications: number;
}

/** To read a partition of eight million applications takes many seconds. */
const TIMEOUT_MS = 5 * 60_000;
const PARTITIONS = `
  SELECT s.ends_at AS end FROM closed_segments s
  WHERE s.ends_at = partition_end(s.begins_at) AND s.in_buckets ORDER BY s.ends_at`;
const KEPT = 'SELECT kept_statuses($1, $2, $3)::text[] AS kept';
/** The batches from $1 on and before $2, of one partition; $3: the final statuses that are kept. */
const DUE = `
  SELECT a.month, a.status, count(*) AS applications FROM (
    SELECT to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
      coalesce(s.status, CASE WHEN decision_code(t.facts, p) = 2 THEN 'rejected'::application_status END) AS status
    FROM (SELECT b.id, b.created_at, b.id_numbers, b.facts || '' AS facts FROM batches b
      WHERE b.id >= $1 AND b.id < $2 OFFSET 0) AS t
    CROSS JOIN LATERAL generate_series(0, cardinality(t.id_numbers) - 1) AS p
    LEFT JOIN application_states s ON s.batch_id = t.id AND s.application_id = application_id_at(t.id, p)
    WHERE t.id_numbers[p + 1] IS NOT NULL) AS a
  WHERE NOT is_open(a.status) AND a.status::text <> ALL ($3::text[])
  GROUP BY a.month, a.status ORDER BY a.month, a.status`;

/** What is old enough to be deleted by a retention, partition by partition. Reads each old partition completely. */
export async function* dueBy(database: Database, retention: Retention): AsyncGenerator<Due, void, undefined> {
  const days = daysOf(retention);
  const { rows } = await database.query<{ end: string }>(PARTITIONS);
  for (const { end } of rows) {
    const [found] = await withTime<{ kept: string[] }>(database, TIMEOUT_MS, KEPT, [end, ...days]);
    const kept = found?.kept ?? [];
    if (kept.length === 2) continue;
    const values = [Number(end) - 2 ** 23, end, kept];
    const due = await withTime<{ month: string; status: ApplicationStatus; applications: string }>(
      ...([database, TIMEOUT_MS, DUE, values] as const),
    );
    yield* due.map((row) => ({ ...row, applications: Number(row.applications) }));
  }
}
