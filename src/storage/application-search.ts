/** Finds applications, newest first, in chunks: memory and the time of each statement are bounded. */
import type { Status } from '../domain/lifecycle.ts';
import { readApplications, type StoredApplication } from './applications.ts';
import type { Database } from './database.ts';
import type { Vault } from './vault.ts';

/** What is left out does not narrow. */
interface ApplicationFilter {
  readonly partnerId?: number | undefined;
  readonly status?: Status | undefined;
  /** Blind indexes; any of them fits. */
  readonly phones?: readonly string[] | undefined;
  /** Blind index. */
  readonly idNumber?: string | undefined;
}

/** Most applications that are opened at once. */
const CHUNK = 1_000;
/**
 * Most rows that one statement looks at for a status: an index leads to in_review alone, and among millions a rare one
 * would otherwise outlast the statement's time.
 */
const SCAN = 20_000;

/** `scanned` rows were looked at, down to id `last`; `ids` are those that fit. */
const IDS = `
  SELECT coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE $1::application_status IS NULL OR status = $1),
    '{}')::text[] AS ids, min(id) AS last, count(*)::integer AS scanned`;

/** `applications_in_review` serves it. */
const QUEUE = `${IDS}
  FROM (
    SELECT id, status FROM applications
    WHERE status = 'in_review' AND ($2::bigint IS NULL OR id < $2) AND ($3::bigint IS NULL OR partner_id = $3)
    ORDER BY id DESC LIMIT $4
  ) AS seen`;

const BROWSE = `${IDS}
  FROM (
    SELECT id, status FROM applications
    WHERE ($2::bigint IS NULL OR id < $2) AND ($3::bigint IS NULL OR partner_id = $3)
    ORDER BY id DESC LIMIT $4
  ) AS seen`;

/**
 * The phone is in one of two partial indexes, by status; the condition names both. Materialised, or the
 * planner may walk all ids in search of the few.
 */
const LOOK_UP = `
  WITH found AS MATERIALIZED (
    SELECT id, status FROM applications
    WHERE ($3::bigint IS NULL OR partner_id = $3) AND ($6::uuid IS NULL OR id_number_index = $6)
      AND ($5::uuid[] IS NULL
        OR (phone_index = ANY ($5) AND status IN ('pending_signature', 'in_review'))
        OR (phone_index = ANY ($5) AND status IN ('rejected', 'disbursed')))
  )
  ${IDS}
  FROM (
    SELECT id, status FROM found WHERE $2::bigint IS NULL OR id < $2 ORDER BY id DESC LIMIT $4
  ) AS seen`;

/**
 * The applications that fit every part of the filter, highest id first, each once. What is registered or
 * moved meanwhile may or may not be among them.
 */
export async function* searchApplications(
  database: Database,
  vault: Vault,
  filter: ApplicationFilter,
): AsyncGenerator<StoredApplication, void, undefined> {
  const { partnerId = null, status = null, phones = null, idNumber = null } = filter;
  const exact = phones === null && idNumber === null ? null : [phones, idNumber];
  const isQueue = exact === null && status === 'in_review';
  const limit = status === null || isQueue ? CHUNK : SCAN;
  const browse = isQueue ? QUEUE : BROWSE;
  let before: string | null = null;
  for (;;) {
    const { rows }: { rows: Page[] } = await database.query<Page>(exact === null ? browse : LOOK_UP, [
      status,
      before,
      partnerId,
      limit,
      ...(exact ?? []),
    ]);
    const { ids, last, scanned } = rows[0] as Page;
    for (let start = 0; start < ids.length; start += CHUNK) {
      yield* await readApplications(database, vault, ids.slice(start, start + CHUNK));
    }
    if (scanned < limit) return;
    before = last;
  }
}

interface Page {
  ids: string[];
  last: string | null;
  scanned: number;
}
