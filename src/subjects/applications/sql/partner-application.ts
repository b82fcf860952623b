/**
 * Reads applications as their partner sees them (D41, D56; contract, "Application state"). Reads `applications_of`,
 * `application_events` and `policies`.
 */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { areDecidable } from '../../../domain/scorecard/card.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { readWhole } from '../../../ground/postgres/unresolved.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readPolicies, type StoredPolicy } from '../../policies/sql/policies.ts';
import { byPartitions } from './partition-runs.ts';
import { readPersonalData, refuseUnknownKey, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';
import type { Pace } from './read-envelopes.ts';

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
  readonly policyId: number;
}

/** One statement, so that the status and its time are of the same moment. */
const READ = `
  SELECT a.id::float8, a.score, a.decision, a.status, a.created_at AS "createdAt", ${SEALED_COLUMNS},
    coalesce(e.at, a.created_at) AS "updatedAt", coalesce(m.to_status, initial_status(a.decision)) AS "toldStatus",
    m.reason_code AS "moveCode", CASE WHEN m.reason_code = 'contract_withdrawn' THEN m.at END AS "withdrawnAt",
    a.signed_at AS "signedAt", a.income, a.debt_amount, a.currency, a.num_debts, a.debt_age, a.prior_history,
    a.policy_id AS "policyId"
  FROM applications_of($1::bigint[]) a
  LEFT JOIN (
    SELECT DISTINCT ON (application_id) application_id, at FROM application_events
    WHERE application_id = ANY ($1::bigint[]) ORDER BY application_id, id DESC) AS e ON e.application_id = a.id
  LEFT JOIN (
    SELECT DISTINCT ON (application_id) application_id, to_status, at, reason_code FROM application_events
    WHERE application_id = ANY ($1::bigint[]) AND to_status <> from_status
    ORDER BY application_id, id DESC) AS m ON m.application_id = a.id
  WHERE a.partner_id = $2`;

/** Status and history are on different machines of a Citus cluster. */
const isWhole = (rows: readonly Row[]) => rows.every((row) => row.status === row.toldStatus);

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * Those of these applications that are the partner's, by id; `unreadable` where the stored facts are damaged. Throws
 * `UnavailableError` while a Citus cluster cannot tell yet, `UnknownDataKeyError` if this process does not have the
 * data key of personal data, and what `pace` throws.
 */
export async function readPartnerApplications(
  { database, vault, clock }: Store,
  partnerId: PartnerId,
  ids: readonly ApplicationId[],
  pace?: Pace,
): Promise<ReadonlyMap<ApplicationId, PartnerApplication | 'unreadable'>> {
  const rows: Row[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const read = async () => (await database.query<Row>(READ, [some, partnerId])).rows;
    rows.push(...(await readWhole(database, clock, read, isWhole)));
  }
  const explained = rows.filter(({ decision }) => decision !== null && decision !== 'approved');
  const policyIds = [...new Set(explained.map(({ policyId }) => policyId))];
  const policies = policyIds.length === 0 ? NO_POLICIES : await readPolicies(database, policyIds);
  const persons = await readPersonalData(database, vault, rows, ['id_number'], pace);
  refuseUnknownKey(persons);
  return new Map(
    persons.map(({ row, person }) => {
      const told = toldOf(row, person.record?.id_number ?? null, policies);
      return [toApplicationId(row.id), told] as const;
    }),
  );
}

const NO_POLICIES: ReadonlyMap<number, StoredPolicy> = new Map();

function toldOf(
  row: Row,
  idNumber: string | null,
  policies: ReadonlyMap<number, StoredPolicy>,
): PartnerApplication | 'unreadable' {
  const { decision, status, score, signedAt, withdrawnAt, createdAt, updatedAt } = row;
  if (decision === null || status === null || !areDecidable(row)) return 'unreadable';
  const decided = decision === 'approved' ? null : policies.get(row.policyId)!.card.decide(row);
  return {
    ...{ id: row.id, decision, status, score, signedAt, withdrawnAt, createdAt, updatedAt, idNumber },
    reasonCode: row.moveCode ?? decided?.limit ?? null,
    reasonCodes: decided?.reasons ?? [],
  };
}
