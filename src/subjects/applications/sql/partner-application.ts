/**
 * Reads one application as its partner sees it (D41; contract, "Application state"). Reads `applications_of`,
 * `application_events` and `policies`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { areDecidable } from '../../../domain/scorecard/card.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { readWhole } from '../../../ground/postgres/unresolved.ts';
import type { Vault } from '../../../seal/vault.ts';
import { POLICY_AS_JSON, type PolicyRow, storedPolicyOf } from '../../policies/sql/policies.ts';
import { readPersonalData, refuseUnknownKey, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';

export interface PartnerApplication {
  readonly id: ApplicationId;
  /** null if the applicant's data is erased or cannot be read. */
  readonly idNumber: string | null;
  readonly score: number;
  readonly decision: Decision;
  readonly status: ApplicationStatus;
  /**
   * Why it has this status: the code of the review that moved it last, or the limit that rejected it at its
   * registration. null: the score alone decided.
   */
  readonly reasonCode: ReasonCode | string | null;
  /** Up to four reasons of a decision that is no approval, the most important first (D50). */
  readonly reasonCodes: readonly string[];
  /** When the applicant signed the contract; it stays after a withdrawal. */
  readonly signedAt: Date | null;
  /** When the applicant withdrew from the signed contract. */
  readonly withdrawnAt: Date | null;
  readonly createdAt: Date;
  /** When the history got its last entry. */
  readonly updatedAt: Date;
}

interface Row
  extends SealedRow,
    DecisionFacts,
    Omit<PartnerApplication, 'idNumber' | 'decision' | 'status' | 'reasonCode' | 'reasonCodes'> {
  readonly decision: Decision | null;
  readonly status: ApplicationStatus | null;
  /**
   * The status by the last move in the history. A tap is an entry of the history too, and may come at the same time as
   * a review.
   */
  readonly toldStatus: ApplicationStatus | null;
  readonly moveCode: ReasonCode | null;
  /** null: an approval has no reasons. */
  readonly policy: PolicyRow | null;
}

/** One statement, so that the status and its time are of the same moment. */
const READ = `
  SELECT a.id::float8, a.score, a.decision, a.status, a.created_at AS "createdAt", ${SEALED_COLUMNS},
    coalesce(e.at, a.created_at) AS "updatedAt", coalesce(m.to_status, initial_status(a.decision)) AS "toldStatus",
    m.reason_code AS "moveCode", CASE WHEN m.reason_code = 'contract_withdrawn' THEN m.at END AS "withdrawnAt",
    a.signed_at AS "signedAt", a.income, a.debt_amount, a.currency, a.num_debts, a.debt_age, a.prior_history,
    CASE WHEN a.decision <> 'approved' THEN ${POLICY_AS_JSON} END AS policy
  FROM applications_of(ARRAY[$1::bigint]) a
  JOIN policies p ON p.id = a.policy_id
  LEFT JOIN (SELECT at FROM application_events WHERE application_id = $1 ORDER BY id DESC LIMIT 1) AS e ON true
  LEFT JOIN (
    SELECT to_status, at, reason_code FROM application_events WHERE application_id = $1 AND to_status <> from_status
    ORDER BY id DESC LIMIT 1) AS m ON true
  WHERE a.partner_id = $2`;

/** Status and history are on different machines of a Citus cluster. */
const isWhole = ([row]: readonly Row[]) => row !== undefined && row.status === row.toldStatus;

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * The application; null if the partner has none with this id, `unreadable` if its stored facts are damaged. Throws
 * `UnavailableError` while a Citus cluster cannot tell yet, and `UnknownDataKeyError` if this process does not have the
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
  const { decision, status, score, signedAt, withdrawnAt, createdAt, updatedAt } = row;
  if (decision === null || status === null || !areDecidable(row)) return 'unreadable';
  const decided = row.policy === null ? null : storedPolicyOf(row.policy).card.decide(row);
  return {
    ...{ id: row.id, decision, status, score, signedAt, withdrawnAt, createdAt, updatedAt },
    idNumber: person.record?.id_number ?? null,
    reasonCode: row.moveCode ?? decided?.limit ?? null,
    reasonCodes: decided?.reasons ?? [],
  };
}
