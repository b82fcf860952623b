/** Finds the applications whose applicant tapped "I am interested", newest interest first. */
import type { ApplicationStatus } from '../domain/application/lifecycle.ts';
import { readApplications, type StoredApplication } from './applications.ts';
import type { Database } from './database.ts';
import { onlyRow } from './only-row.ts';
import type { Vault } from './vault.ts';

/** null: does not narrow the search. */
interface LeadFilter {
  readonly since: Date | null;
  readonly partnerId: number | null;
  readonly status: ApplicationStatus | null;
}

/** Most leads that a statement looks at, and whose personal data is opened at once. */
const CHUNK = 500;

/**
 * The statement looked at `seen` leads down to the last one; `ids` are the leads that fit. $1 and $2: the last lead that
 * was looked at before.
 */
const PAGE = `
  WITH seen AS MATERIALIZED (
    SELECT application_id AS id, interested_at FROM application_states
    WHERE interested_at IS NOT NULL AND ($1::timestamptz IS NULL OR (interested_at, application_id) < ($1, $2::bigint))
      AND ($3::timestamptz IS NULL OR interested_at >= $3)
    ORDER BY interested_at DESC, application_id DESC LIMIT ${CHUNK}
  ), last AS (SELECT id, interested_at FROM seen ORDER BY interested_at, id LIMIT 1)
  SELECT coalesce((SELECT array_agg(a.id ORDER BY a.interested_at DESC, a.id DESC)
      FROM applications_of(ARRAY(SELECT id FROM seen)) AS a
      WHERE ($4::bigint IS NULL OR a.partner_id = $4) AND ($5::application_status IS NULL OR a.status = $5)
    ), '{}')::text[] AS ids,
    (SELECT id FROM last) AS last_id, (SELECT interested_at::text FROM last) AS last_at,
    (SELECT count(*) FROM seen)::integer AS seen`;

interface Page {
  ids: string[];
  last_id: string | null;
  /** As text, because a Date has no microseconds. */
  last_at: string | null;
  seen: number;
}

/** The leads that fit every part of the filter, newest interest first, each once. */
export async function* searchLeads(
  database: Database,
  vault: Vault,
  { since, partnerId, status }: LeadFilter,
): AsyncGenerator<StoredApplication, void, undefined> {
  let last: Pick<Page, 'last_at' | 'last_id'> = { last_at: null, last_id: null };
  for (;;) {
    const values: unknown[] = [last.last_at, last.last_id, since, partnerId, status];
    const { rows }: { rows: Page[] } = await database.query<Page>(PAGE, values);
    const page = onlyRow(rows);
    yield* await readApplications(database, vault, page.ids);
    if (page.seen < CHUNK) return;
    last = page;
  }
}
