/**
 * Observes an income, compares it with the declared one, and keeps the evidence (D44). Asks the sources, and writes
 * `income_checks`; `rules/judge-income.ts` has the rule.
 */
import { createHash } from 'node:crypto';
import type { Application } from '../../../domain/application/fields.ts';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { areDecidable, incomeRulesOf } from '../../../domain/scorecard/card.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { requireLiveKey } from '../../../seal/data-keys.ts';
import { readApplications, type StoredApplication } from '../../applications/sql/applications.ts';
import { policyOf, type StoredPolicy } from '../../policies/sql/policies.ts';
import {
  type Calendar,
  type IncomeJudgement,
  type IncomeOutcome,
  type IncomeReason,
  judgeIncome,
} from '../rules/judge-income.ts';
import { addIncomeCheck, calendarOf, evidenceIdentity } from '../sql/income-checks.ts';
import { dropSteps } from '../sql/income-steps.ts';
import {
  askSources,
  type CheckLater,
  type Found,
  type IncomeContext,
  type StepAsked,
} from './ask-sources.ts';
import { forgetErased } from './forget-erased.ts';

export type { IncomeContext };

export interface CheckedIncome {
  readonly outcome: IncomeOutcome;
  readonly reason: IncomeReason | 'accepted_by_operator';
}

/**
 * Checks the income of an application, and stores the check. A check that an operator has accepted is confirmed.
 * `code`: what the person entered for the provider that asked for it; null: nothing. May be called again: the same
 * facts in the same month are the same check. Throws `UnknownDataKeyError` if this process lacks a data key, and throws
 * if the database fails.
 */
export async function checkIncome(
  context: IncomeContext,
  applicationId: ApplicationId,
  code: string | null = null,
): Promise<CheckedIncome | CheckLater | StepAsked> {
  const { database, vault } = context;
  const [application] = await readApplications(database, vault, [applicationId]);
  const policy = await policyOf(database, applicationId);
  if (application === undefined || !isReadable(application) || policy === null) {
    return { outcome: 'operator', reason: 'unreadable_application' };
  }
  const found = await askSources(context, application, code);
  if ('retryAfterMs' in found || 'step' in found) return found;
  const calendar = await calendarOf(database);
  const judged = found.fault === null ? judge(application, policy, found, calendar) : faulty(found.fault);
  if (await store(context, application, policy, { found, judged, calendar }))
    return { outcome: 'confirmed', reason: 'accepted_by_operator' };
  return { outcome: judged.outcome, reason: judged.reason };
}

function isReadable({ decision, fields }: StoredApplication): boolean {
  return decision !== null && areDecidable(fields);
}

function faulty(reason: IncomeReason): IncomeJudgement {
  return { outcome: 'operator', reason, months: [], observed: null, again: null };
}

function judge(
  { fields, decision }: StoredApplication,
  { card }: StoredPolicy,
  { observations }: Found,
  calendar: Calendar,
): IncomeJudgement {
  // The fields that the scorecard reads are columns, so an erased or unreadable person has them too.
  const application = fields as unknown as Application;
  const declared = {
    income: application.income,
    currency: application.currency,
    decision: decision ?? 'rejected',
    assess: (income: number) => card.decide({ ...application, income }),
  };
  return judgeIncome(declared, observations, calendar, incomeRulesOf(card.document));
}

interface Made {
  readonly found: Found;
  readonly judged: IncomeJudgement;
  readonly calendar: Calendar;
}

/** Stores the check. Returns whether an operator has accepted it. */
async function store(
  { database, vault }: IncomeContext,
  { id, fields }: StoredApplication,
  { content, card }: StoredPolicy,
  { found, judged, calendar }: Made,
): Promise<boolean> {
  const rules = incomeRulesOf(card.document);
  const evidence = JSON.stringify({ observations: found.observations, months: judged.months });
  const declared = Math.round(Number(fields.income) * 100);
  const facts = [
    evidence,
    found.method,
    found.fault,
    found.confidence,
    declared,
    calendar.lastWhole,
    content,
    rules,
  ];
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  const isAccepted = await inTransaction(database, async (session) => {
    await requireLiveKey(session, vault);
    const is = await addIncomeCheck(session, id, {
      ...judged,
      digest,
      method: found.method,
      currency: String(fields.currency),
      declared,
      months: judged.months.length,
      confidence: found.confidence,
      layouts: [...new Set(found.observations.map(({ source }) => source))].sort(),
      reader: found.reader,
      policyVersion: content.version,
      rules,
      evidence: vault.seal(evidence, evidenceIdentity(id, digest)),
    });
    await dropSteps(session, [id]);
    return is;
  });
  await forgetErased(database, id);
  return isAccepted;
}
