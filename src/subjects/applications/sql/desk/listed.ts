/**
 * Applications as rows of lists, without personal data, and the walk over all of them, newest first (docs/operators.md,
 * "Views"). Reads `applications_of`, `batches` and `partners`.
 */
import {
  type ApplicationId,
  type BatchId,
  batchAndPositionOf,
  partitionOf,
  toApplicationId,
  toBatchId,
} from '../../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../../domain/application/lifecycle.ts';
import type { Decision } from '../../../../domain/scorecard/scorecard.ts';
import { DAY_MS } from '../../../../ground/base/clock.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import { EARLIER_MS, firstBatchAt } from '../batch-times.ts';
import { byPartitions, partitionsDown } from '../partition-runs.ts';

/** A row of a list. */
export interface ListedApplication {
  readonly id: ApplicationId;
  readonly partner: { readonly id: number; readonly name: string };
  /** null, as the next four: the stored data cannot be read. */
  readonly status: ApplicationStatus | null;
  /** At the registration. */
  readonly decision: Decision | null;
  readonly score: number | null;
  readonly currency: string | null;
  readonly debtAmount: number | null;
  readonly createdAt: Date;
}

/** A filter that is absent does not narrow the list. */
export interface ListFilter {
  readonly partner?: number | undefined;
  /** The partner's. */
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
  /** Approved, and neither signed nor paid out. */
  readonly isUnsigned?: boolean | undefined;
}

const READ = `
  SELECT a.id::float8 AS id, json_build_object('id', p.id, 'name', p.name) AS partner, a.status, a.decision, a.score, a.currency,
    a.debt_amount AS "debtAmount", a.created_at AS "createdAt"
  FROM applications_of($1) AS a JOIN partners p ON p.id = a.partner_id
  WHERE ($2::integer IS NULL OR a.partner_id = $2) AND ($3::text IS NULL OR a.currency = $3)
    AND ($4::boolean IS NOT TRUE OR a.status = 'pending_signature' AND a.signed_at IS NULL)
    AND ($5::text IS NULL OR p.country = $5)`;

/** Those of these applications that fit, by id. */
export async function readListed(
  database: Database,
  ids: readonly ApplicationId[],
  { partner, country, currency, isUnsigned }: ListFilter,
): Promise<ReadonlyMap<ApplicationId, ListedApplication>> {
  const listed = new Map<ApplicationId, ListedApplication>();
  for (const some of byPartitions(ids, partitionOf)) {
    const values = [some, partner, currency, isUnsigned, country];
    const { rows } = await database.query<ListedApplication>(READ, values);
    for (const row of rows) {
      const id = toApplicationId(`${row.id}`);
      listed.set(id, { ...row, id });
    }
  }
  return listed;
}

/** The batches from $1 on and before $2, of one partition, before the application $3. $4 and $5: days. $6: the most. */
const DOWN = `
  SELECT application_id_at(b.id, p.position)::float8 AS id, b.created_at AS at
  FROM batches b CROSS JOIN LATERAL generate_series(cardinality(b.id_numbers) - 1, 0, -1) AS p(position)
  WHERE b.id >= $1 AND b.id < $2 AND ($3::bigint IS NULL OR application_id_at(b.id, p.position) < $3)
    AND ($4::date IS NULL OR b.created_at >= $4::date::timestamp AT TIME ZONE 'UTC')
    AND ($5::date IS NULL OR b.created_at < ($5::date + 1)::timestamp AT TIME ZONE 'UTC')
  ORDER BY b.id DESC, p.position DESC LIMIT $6`;

/**
 * The next ids below `before`, highest first, at most `most`, each with the time of its registration; `from` and `to`
 * are days of it (UTC), and the batches of other days are not read. No application may have such an id, where its
 * position in the batch was refused.
 */
export async function applicationsDown(
  database: Database,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  before: ApplicationId | null,
  most: number,
): Promise<{ readonly id: ApplicationId; readonly at: Date }[]> {
  const found: { id: ApplicationId; at: Date }[] = [];
  const least = from === undefined ? 0 : await firstBatchAt(database, new Date(startOf(from) - EARLIER_MS));
  const end = await batchBelow(database, to, before);
  for await (const range of partitionsDown(database, end)) {
    const first = Math.max(Number(range.from), least);
    const last = Math.min(Number(range.before), Number(end ?? range.before));
    if (last <= first) break;
    const values = [first, last, before, from, to, most - found.length];
    const { rows } = await database.query<{ id: number; at: Date }>(DOWN, values);
    found.push(...rows.map(({ id, at }) => ({ id: toApplicationId(id), at })));
    if (found.length === most) break;
  }
  return found;
}

/** All batches of the walk are below this number; null: it begins with the newest one. */
async function batchBelow(
  database: Database,
  to: string | undefined,
  before: ApplicationId | null,
): Promise<BatchId | null> {
  const ends = before === null ? [] : [Number(batchAndPositionOf(before).batchId) + 1];
  if (to !== undefined) ends.push(await firstBatchAt(database, new Date(startOf(to) + DAY_MS + EARLIER_MS)));
  return ends.length === 0 ? null : toBatchId(Math.min(...ends));
}

function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
