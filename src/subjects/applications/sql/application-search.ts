/**
 * Finds applications by a filter, newest first, in chunks, so that memory and the time of each statement are bounded.
 * Reads `batches`, `review_queue` and the look-up buckets (`look_up`). `sql/functions/applications/look-up.sql` says
 * how blind indexes are searched.
 */
import {
  type ApplicationId,
  type BatchId,
  type BlindIndex,
  partitionOf,
  toApplicationId,
} from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readApplications, type StoredApplication } from './applications.ts';
import { byPartitions, lookUpParts, partitionsDown } from './partition-runs.ts';

/** A part that is left out does not narrow the search. */
interface ApplicationFilter {
  readonly partnerId?: PartnerId | undefined;
  readonly status?: ApplicationStatus | undefined;
  /** Any one of these fits. */
  readonly phones?: readonly BlindIndex<'phone'>[] | undefined;
  readonly idNumber?: BlindIndex<'id_number'> | undefined;
}

/** Most applications whose personal data is opened at once. */
const CHUNK = 1_000;
/**
 * Most batches of one statement. With a hundred applications each, they take a good part of the statement's time limit.
 */
const BATCHES = 40;
/** Most applications of one statement that were found by blind index. */
const LOOKED_UP = 200;

/** The statement looked at `seen` batches down to `last`; `ids` are the applications that fit. $3: the status. */
const PAGE = `
  SELECT coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE $3::application_status IS NULL OR status = $3),
    '{}')::text[] AS ids, (SELECT min(id) FROM seen) AS last, (SELECT count(*) FROM seen)::integer AS seen`;

/** The review queue. A position may have been decided meanwhile, so the status is read as well. */
const QUEUE = `
  WITH seen AS MATERIALIZED (
    SELECT batch_id AS id, positions FROM review_queue
    WHERE ($1::bigint IS NULL OR batch_id < $1) AND ($2::bigint IS NULL OR partner_id = $2)
    ORDER BY batch_id DESC LIMIT ${BATCHES}
  )
  ${PAGE} FROM applications_of(ARRAY(SELECT application_id_at(s.id, p) FROM seen s, unnest(s.positions) AS p)) AS a`;

/** The batches from $4 on and before $1, which are of one partition. */
const BROWSE = `
  WITH seen AS MATERIALIZED (
    SELECT id, cardinality(id_numbers) AS positions FROM batches
    WHERE id >= $4::bigint AND id < $1::bigint AND ($2::bigint IS NULL OR partner_id = $2)
    ORDER BY id DESC LIMIT ${BATCHES}
  )
  ${PAGE} FROM applications_of(ARRAY(SELECT application_id_at(s.id, p) FROM seen s, generate_series(0, s.positions - 1) AS p)) AS a`;

/** By blind indexes, in a part of the batches; $1: the last application. */
const LOOK_UP = `
  SELECT id FROM look_up($2, $3, $4, $5, $6) AS id WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT ${LOOKED_UP}`;

/** Those of these applications that fit. */
const FITTING = `
  SELECT a.id FROM applications_of($1) AS a
  WHERE ($2::bigint IS NULL OR a.partner_id = $2) AND ($3::application_status IS NULL OR a.status = $3)
  ORDER BY a.id DESC`;

/**
 * The applications that fit every part of the filter, highest id first, each once. Applications that are registered or
 * moved meanwhile may or may not be among them. Throws an `OtherIndexKeyError` if a `vault reindex` has begun since
 * this process started.
 */
export async function* searchApplications(
  database: Database,
  vault: Vault,
  filter: ApplicationFilter,
): AsyncGenerator<StoredApplication, void, undefined> {
  const { status, phones, idNumber } = filter;
  const pages =
    phones !== undefined || idNumber !== undefined
      ? lookUp(database, vault, filter)
      : status === 'in_review'
        ? readQueue(database, filter)
        : browse(database, filter);
  for await (const ids of pages) {
    for (let start = 0; start < ids.length; start += CHUNK) {
      yield* await readApplications(database, vault, ids.slice(start, start + CHUNK));
    }
  }
}

/** The ids of applications that fit, highest first. */
type Pages = AsyncGenerator<ApplicationId[], void, undefined>;

interface Page {
  ids: string[];
  last: BatchId | null;
  seen: number;
}

async function* readQueue(database: Database, { partnerId, status }: ApplicationFilter): Pages {
  for (let before: string | null = null; ; ) {
    const values: unknown[] = [before, partnerId ?? null, status ?? null];
    const { ids, last, seen } = onlyRow((await database.query<Page>(QUEUE, values)).rows);
    yield ids.map(toApplicationId);
    if (seen < BATCHES) return;
    before = last;
  }
}

async function* browse(database: Database, { partnerId, status }: ApplicationFilter): Pages {
  for await (const { from, before: end } of partitionsDown(database)) {
    for (let before: string | null = end; before !== null; ) {
      const values: unknown[] = [before, partnerId ?? null, status ?? null, from];
      const { ids, last, seen } = onlyRow((await database.query<Page>(BROWSE, values)).rows);
      yield ids.map(toApplicationId);
      before = seen < BATCHES ? null : last;
    }
  }
}

async function* lookUp(database: Database, vault: Vault, filter: ApplicationFilter): Pages {
  const { partnerId, status, phones, idNumber } = filter;
  const indexes = [
    phones?.map(toBigint) ?? null,
    idNumber === undefined ? null : [toBigint(idNumber)],
  ] as const;
  for await (const part of lookUpParts(database)) {
    for (let last: ApplicationId | undefined | null; last !== null; ) {
      const values: unknown[] = [last, ...indexes, ...part];
      const { rows: seen } = await database.query<{ id: string }>(LOOK_UP, values);
      const found = seen.map(({ id }) => toApplicationId(id));
      yield await fitting(database, found, { partnerId, status });
      last = found.length < LOOKED_UP ? null : found.at(-1);
    }
  }
  // If the indexes were made with another key, the search would find nothing.
  await requireIndexKey(database, vault);
}

/** Those of these applications that fit, highest id first in each part of few partitions. */
export async function fitting(
  database: Database,
  found: readonly ApplicationId[],
  { partnerId, status }: Pick<ApplicationFilter, 'partnerId' | 'status'>,
): Promise<ApplicationId[]> {
  const fit: ApplicationId[] = [];
  for (const ids of byPartitions(found, partitionOf)) {
    const { rows } = await database.query<{ id: string }>(FITTING, [ids, partnerId ?? null, status ?? null]);
    fit.push(...rows.map(({ id }) => toApplicationId(id)));
  }
  return fit;
}
