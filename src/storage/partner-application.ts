/** One application as its partner sees it (D41). */
import { type ApplicationId, toApplicationId } from '../domain/application/ids.ts';
import type { ApplicationStatus } from '../domain/application/lifecycle.ts';
import type { Decision } from '../domain/scoring/scorecard.ts';
import type { Session } from './database.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';
import type { Vault } from './vault.ts';

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
}

/** One statement, so that the status and its time are of the same moment. */
const READ = `
  SELECT a.id, a.score, a.decision, a.status, a.created_at, ${SEALED_COLUMNS},
    (SELECT e.at FROM application_events e WHERE e.application_id = $1 ORDER BY e.id DESC LIMIT 1) AS updated_at
  FROM applications_of(ARRAY[$1::bigint]) a WHERE a.partner_id = $2`;

/** The application; null if the partner has none with this id, `unreadable` if its stored facts are damaged. */
export async function readPartnerApplication(
  session: Session,
  vault: Vault,
  partnerId: number,
  id: ApplicationId,
): Promise<PartnerApplication | 'unreadable' | null> {
  const { rows } = await session.query<Row>(READ, [id, partnerId]);
  const [found] = await readPersonalData(session, vault, rows, ['id_number']);
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
