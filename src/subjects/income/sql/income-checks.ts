/**
 * The checks of incomes with their evidence (D44; docs/income.md, "The evidence"): reads and writes `income_checks`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  type Assessment,
  CRITERIA,
  type Decision,
  type IncomeRules,
} from '../../../domain/scorecard/scorecard.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeNumber } from '../../../ground/postgres/ids.ts';
import type { Calendar, IncomeOutcome, IncomeReason } from '../rules/judge-income.ts';

/** How the income was observed. */
export type IncomeMethod = 'none' | 'documents' | 'operator' | 'documents and operator' | 'provider';

/** A check as it is stored. Amounts are whole hundredths. */
export interface IncomeCheck {
  /** A hash of everything that the check depends on: 64 lower-case hex digits. */
  readonly digest: string;
  readonly method: IncomeMethod;
  readonly outcome: IncomeOutcome;
  readonly reason: IncomeReason;
  readonly currency: string | null;
  readonly declared: number | null;
  /** null: there were too few months. */
  readonly observed: number | null;
  readonly months: number;
  readonly confidence: number;
  readonly layouts: readonly string[];
  readonly reader: string;
  readonly policyVersion: string | null;
  readonly rules: IncomeRules;
  /** null: the application was not scored again. */
  readonly again: Assessment | null;
  /** Sealed under `evidenceIdentity`. null: erased. */
  readonly evidence: Buffer | null;
}

/** A check with its time. */
export interface StoredIncomeCheck extends Omit<IncomeCheck, 'again'> {
  readonly checkedAt: Date;
  readonly newScore: number | null;
  readonly newDecision: Decision | null;
  /** The operator who accepted the income despite the outcome; null: nobody did. */
  readonly accepted: { readonly by: string; readonly at: Date } | null;
}

/** In the Americas a month ends up to 12 hours later than in UTC. Nowhere does it begin more than 14 hours earlier. */
const CALENDAR = `
  SELECT to_char(date_trunc('month', t.utc - interval '12 hours') - interval '1 day', 'YYYY-MM') AS "lastWhole",
    to_char(t.utc + interval '14 hours', 'YYYY-MM') AS latest
  FROM (SELECT now() AT TIME ZONE 'UTC' AS utc) AS t`;

/** The newest months that may be observed now. */
export async function calendarOf(session: Session): Promise<Calendar> {
  return onlyRow((await session.query<{ lastWhole: string; latest: string }>(CALENDAR)).rows);
}

/** The identity that the evidence of a check is sealed under. */
export function evidenceIdentity(id: ApplicationId | string, digest: string): string {
  return `income ${id} ${digest}`;
}

const ADD = `
  INSERT INTO income_checks (application_id, digest, method, outcome, reason, currency, declared, observed, months,
    confidence, layouts, reader, policy_version, rules, new_score, new_points, new_decision, evidence, number)
  VALUES ($1, decode($2, 'hex'), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
  ON CONFLICT (application_id, digest) DO UPDATE SET checked_at = excluded.checked_at, number = excluded.number
  RETURNING accepted_at IS NOT NULL AS "isAccepted"`;

/**
 * Stores a check. One with the same digest as an earlier check becomes the last check again. Returns whether an
 * operator has accepted it.
 */
export async function addIncomeCheck(
  session: Session,
  applicationId: ApplicationId,
  check: IncomeCheck,
): Promise<boolean> {
  const { again } = check;
  const { rows } = await session.query<{ isAccepted: boolean }>(ADD, [
    applicationId,
    check.digest,
    check.method,
    check.outcome,
    check.reason,
    check.currency,
    check.declared,
    check.observed,
    check.months,
    check.confidence,
    check.layouts,
    check.reader,
    check.policyVersion,
    check.rules,
    again?.score ?? null,
    again && CRITERIA.map((criterion) => again.points[criterion]),
    again?.decision ?? null,
    check.evidence,
    await takeNumber(session, 'income_checks_number_seq'),
  ]);
  return onlyRow(rows).isAccepted;
}

const ACCEPT = `
  UPDATE income_checks c SET accepted_by = $3, accepted_at = now()
  WHERE c.application_id = $1 AND c.digest = decode($2, 'hex') AND c.outcome = 'operator' AND c.accepted_at IS NULL`;

/** Notes who accepts a check. False if it has another outcome, or is accepted already. */
export async function acceptIncomeCheck(
  session: Session,
  applicationId: ApplicationId,
  digest: string,
  by: string,
): Promise<boolean> {
  return (await session.query(ACCEPT, [applicationId, digest, by])).rowCount === 1;
}

const LAST = `
  SELECT encode(c.digest, 'hex') AS digest, c.checked_at AS "checkedAt", c.method, c.outcome, c.reason, c.currency,
    c.declared::float8, c.observed::float8, c.months, c.confidence, c.layouts, c.reader,
    c.policy_version AS "policyVersion", c.rules, c.new_score AS "newScore", c.new_decision AS "newDecision", c.evidence,
    c.accepted_by AS by, c.accepted_at AS at
  FROM income_checks c WHERE c.application_id = $1 ORDER BY c.number DESC LIMIT 1`;

/** The last check of an application; null: there is none. */
export async function incomeCheckOf(
  session: Session,
  applicationId: ApplicationId,
): Promise<StoredIncomeCheck | null> {
  type Row = Omit<StoredIncomeCheck, 'accepted'> & { readonly by: string | null; readonly at: Date | null };
  const [row] = (await session.query<Row>(LAST, [applicationId])).rows;
  if (row === undefined) return null;
  const { by, at, ...check } = row;
  return { ...check, accepted: by === null || at === null ? null : { by, at } };
}

const INCOMES = `
  SELECT DISTINCT ON (c.application_id) c.application_id::float8 AS id,
    c.outcome <> 'operator' OR c.accepted_at IS NOT NULL AS "isConfirmed", c.observed::float8 / 100 AS observed
  FROM income_checks c WHERE c.application_id = ANY ($1::bigint[]) ORDER BY c.application_id, c.number DESC`;

/** What the last check of an application found. */
export interface CheckedIncome {
  /** The check confirmed or adjusted the income, or an operator accepted it. */
  readonly isConfirmed: boolean;
  /** In units of the currency; null: an operator accepted the income, and none was observed. */
  readonly observed: number | null;
}

/** The incomes of those applications whose last check observed an income, or was accepted by an operator. */
export async function incomesOf(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, CheckedIncome>> {
  const { rows } = await session.query<CheckedIncome & { readonly id: ApplicationId }>(INCOMES, [ids]);
  const found = rows.filter(({ isConfirmed, observed }) => isConfirmed || observed !== null);
  return new Map(found.map(({ id, ...income }) => [id, income]));
}

const ERASE = `
  UPDATE income_checks SET evidence = NULL WHERE application_id = ANY ($1::bigint[]) AND evidence IS NOT NULL`;

/** Deletes the months and amounts of these applications; the other numbers stay for statistics. */
export async function eraseIncomeEvidence(
  session: Transaction,
  ids: readonly ApplicationId[],
): Promise<void> {
  await session.query(ERASE, [ids]);
}

const DELETE = 'DELETE FROM income_checks WHERE application_id = ANY ($1::bigint[])';

/** Deletes the checks of applications that are deleted. */
export async function deleteIncomeChecks(session: Session, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(DELETE, [ids]);
}
