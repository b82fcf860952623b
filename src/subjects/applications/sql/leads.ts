/**
 * Finds leads: applications whose applicant tapped "I am interested", newest interest first (docs/messages.md,
 * "Interest"). Reads `application_states` and `applications_of`.
 */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readApplications, type StoredApplication } from './applications.ts';
import { byPartitions } from './partition-runs.ts';

/** null: does not narrow the search. */
interface LeadFilter {
  readonly since: Date | null;
  readonly partnerId: PartnerId | null;
  readonly status: ApplicationStatus | null;
}

/** Most leads that a statement looks at, and whose personal data is opened at once. */
const CHUNK = 500;

/** $1 and $2: the last lead that was looked at before. */
const SEEN = `
  SELECT application_id AS id, interested_at::text AS at FROM application_states
  WHERE interested_at IS NOT NULL AND ($1::timestamptz IS NULL OR (interested_at, application_id) < ($1, $2::bigint))
    AND ($3::timestamptz IS NULL OR interested_at >= $3)
  ORDER BY interested_at DESC, application_id DESC LIMIT ${CHUNK}`;

interface Seen {
  readonly id: string;
  /** As text, because a Date has no microseconds. */
  readonly at: string;
}

/** Those of these leads that fit. */
const FITTING = `
  SELECT a.id FROM applications_of($1) AS a
  WHERE ($2::bigint IS NULL OR a.partner_id = $2) AND ($3::application_status IS NULL OR a.status = $3)`;

/** The leads that fit every part of the filter, newest interest first, each once. */
export async function* searchLeads(
  database: Database,
  vault: Vault,
  { since, partnerId, status }: LeadFilter,
): AsyncGenerator<StoredApplication, void, undefined> {
  for (let last: Seen | undefined; ; ) {
    const { rows: seen }: { rows: Seen[] } = await database.query<Seen>(SEEN, [last?.at, last?.id, since]);
    const leads = seen.map(({ id }) => toApplicationId(id));
    const fitting = new Set<ApplicationId>();
    for (const ids of byPartitions(leads, partitionOf)) {
      const { rows } = await database.query<{ id: string }>(FITTING, [ids, partnerId, status]);
      for (const { id } of rows) fitting.add(toApplicationId(id));
    }
    yield* await readApplications(
      database,
      vault,
      leads.filter((id) => fitting.has(id)),
    );
    if (seen.length < CHUNK) return;
    last = seen.at(-1);
  }
}
