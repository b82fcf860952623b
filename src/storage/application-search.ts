/** Finds applications, newest first, in chunks, so that memory and the time of each statement are bounded. */
import type { BlindIndex } from '../domain/application/ids.ts';
import type { ApplicationStatus } from '../domain/application/lifecycle.ts';
import { readApplications, type StoredApplication } from './applications.ts';
import { toBigint } from './blind-indexes.ts';
import type { Database } from './database.ts';
import type { Vault } from './vault.ts';

/** A part that is left out does not narrow the search. */
interface ApplicationFilter {
  readonly partnerId?: number | undefined;
  readonly status?: ApplicationStatus | undefined;
  /** Any one of these fits. */
  readonly phones?: readonly BlindIndex<'phone'>[] | undefined;
  readonly idNumber?: BlindIndex<'id_number'> | undefined;
}

/** Most applications whose personal data is opened at once. */
const CHUNK = 1_000;
/** Most batches of one statement: with a hundred applications each they take a good part of the statement's time. */
const BATCHES = 40;
/** Most applications of one statement that were found by blind index. */
const LOOKED_UP = 200;

/**
 * The statement looked at `seen` batches or applications down to `last`; `ids` are the applications that fit. $3: the
 * status.
 */
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
  ${PAGE} FROM applications_of(ARRAY(SELECT s.id * 128 + p FROM seen s, unnest(s.positions) AS p)) AS a`;

const BROWSE = `
  WITH seen AS MATERIALIZED (
    SELECT id, cardinality(id_numbers) AS positions FROM batches
    WHERE ($1::bigint IS NULL OR id < $1) AND ($2::bigint IS NULL OR partner_id = $2)
    ORDER BY id DESC LIMIT ${BATCHES}
  )
  ${PAGE} FROM applications_of(ARRAY(SELECT s.id * 128 + p FROM seen s, generate_series(0, s.positions - 1) AS p)) AS a`;

/** By blind indexes; here $1 is the last application instead of its batch. */
const LOOK_UP = `
  WITH seen AS MATERIALIZED (
    SELECT id FROM look_up($4, $5) AS id WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT ${LOOKED_UP}
  )
  ${PAGE} FROM applications_of(ARRAY(SELECT id FROM seen)) AS a WHERE $2::bigint IS NULL OR partner_id = $2`;

/**
 * The applications that fit every part of the filter, highest id first, each once. Applications that are registered
 * or moved meanwhile may or may not be among them.
 */
export async function* searchApplications(
  database: Database,
  vault: Vault,
  filter: ApplicationFilter,
): AsyncGenerator<StoredApplication, void, undefined> {
  const { partnerId = null, status = null, phones, idNumber } = filter;
  const exact =
    phones === undefined && idNumber === undefined
      ? []
      : [phones?.map(toBigint) ?? null, idNumber === undefined ? null : [toBigint(idNumber)]];
  const text = exact.length > 0 ? LOOK_UP : status === 'in_review' ? QUEUE : BROWSE;
  const most = text === LOOK_UP ? LOOKED_UP : BATCHES;
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: Page[] } = await database.query<Page>(text, [
      before,
      partnerId,
      status,
      ...exact,
    ]);
    const { ids, last, seen } = rows[0] as Page;
    for (let start = 0; start < ids.length; start += CHUNK) {
      yield* await readApplications(database, vault, ids.slice(start, start + CHUNK));
    }
    if (seen < most) return;
    before = last;
  }
}

interface Page {
  ids: string[];
  last: string | null;
  seen: number;
}
