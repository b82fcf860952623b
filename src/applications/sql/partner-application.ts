/** One application as its partner sees it (D41). */

import type { Clock } from '../../base/clock.ts';
import type { PartnerId } from '../../partners/rules/credential.ts';
import type { Database } from '../../postgres/database.ts';
import { readWhole } from '../../postgres/unresolved.ts';
import type { Vault } from '../../seal/vault.ts';
import { type ApplicationId, toApplicationId } from '../rules/ids.ts';
import type { ApplicationStatus } from '../rules/lifecycle.ts';
import type { Decision } from '../rules/scorecard.ts';
import { readPersonalData, refuseUnknownKey, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';

export interface PartnerApplication {
  readonly id: ApplicationId;
  /** null where the applicant's data is erased or cannot be read. */
  readonly idNumber: string | null;
  readonly score: number;
  readonly decision: Decision;
  readonly status: ApplicationStatus;
  readonly createdAt: Date;
  /** When the history got its last entry. */
  readonly updatedAt: Date;
}

interface Row extends SealedRow {
  id: string;
  score: number;
  decision: Decision | null;
  status: ApplicationStatus | null;
  created_at: Date;
  updated_at: Date | null;
  /** The status by the last move in the history. A tap is an entry too, and may come beside a review. */
  told_status: ApplicationStatus | null;
}

/** One statement, so that the status and its time are of the same moment. */
const READ = `
  SELECT a.id, a.score, a.decision, a.status, a.created_at, ${SEALED_COLUMNS}, e.at AS updated_at,
    coalesce(m.to_status, initial_status(a.decision)) AS told_status
  FROM applications_of(ARRAY[$1::bigint]) a
  LEFT JOIN (SELECT at FROM application_events WHERE application_id = $1 ORDER BY id DESC LIMIT 1) AS e ON true
  LEFT JOIN (
    SELECT to_status FROM application_events WHERE application_id = $1 AND to_status <> from_status
    ORDER BY id DESC LIMIT 1) AS m ON true
  WHERE a.partner_id = $2`;

/** Status and history are on different machines of a Citus cluster. */
const isWhole = ([row]: readonly Row[]) => row !== undefined && row.status === row.told_status;

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * The application; null if the partner has none with this id, `unreadable` if its stored facts are damaged. Throws
 * `UnavailableError` while a Citus cluster does not know, and `UnknownDataKeyError` if this process does not have the
 * data key of its personal data.
 */
export async function readPartnerApplication(
  { database, vault, clock }: Store,
  partnerId: PartnerId,
  id: ApplicationId,
): Promise<PartnerApplication | 'unreadable' | null> {
  const read = async () => (await database.query<Row>(READ, [id, partnerId])).rows;
  const rows = await readWhole(database, clock, read, isWhole);
  const persons = await readPersonalData(database, vault, rows, ['id_number']);
  refuseUnknownKey(persons);
  const [found] = persons;
  if (found === undefined) return null;
  const { row, person } = found;
  if (row.decision === null || row.status === null) return 'unreadable';
  return {
    id: toApplicationId(row.id),
    idNumber: person.record?.id_number ?? null,
    score: row.score,
    decision: row.decision,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
  };
}
