/** Observes an income, compares it with the declared one, and keeps the evidence (D44). */
import { createHash } from 'node:crypto';
import type { Application } from '../../applications/rules/fields.ts';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { DEFAULT_INCOME_RULES, type Policy } from '../../applications/rules/policy.ts';
import { assess } from '../../applications/rules/scorecard.ts';
import { readApplications, type StoredApplication } from '../../applications/sql/applications.ts';
import { policyOf } from '../../applications/sql/policies.ts';
import { type Database, inTransaction } from '../../postgres/database.ts';
import { requireLiveKey } from '../../seal/data-keys.ts';
import type { Vault } from '../../seal/vault.ts';
import {
  type Calendar,
  type IncomeJudgement,
  type IncomeOutcome,
  type IncomeReason,
  judgeIncome,
  type Observation,
} from '../rules/judge-income.ts';
import type { IncomeSource, Observed, SourceAnswer } from '../sources/income-source.ts';
import { addIncomeCheck, calendarOf, evidenceIdentity, type IncomeMethod } from '../sql/income-checks.ts';

/** What a check works with. */
export interface IncomeContext {
  readonly database: Database;
  readonly vault: Vault;
  /** What services and operators read in documents. */
  readonly documents: IncomeSource;
  readonly operator: IncomeSource;
  /** Asked where there are no documents; null: none is set. */
  readonly provider: IncomeSource | null;
}

export interface CheckedIncome {
  readonly outcome: IncomeOutcome;
  readonly reason: IncomeReason;
}

/** The source is at it: call again after this time. */
export interface CheckLater {
  readonly retryAfterMs: number;
  readonly reason: 'provider';
}

const PROVIDER_MS = 60_000;

/**
 * Checks the income of an application by its accepted statements, and stores the check. May be called again: the same
 * facts in the same month are the same check. Throws `UnknownDataKeyError` where this process lacks a data key, and
 * where the database fails.
 */
export async function checkIncome(
  context: IncomeContext,
  applicationId: ApplicationId,
): Promise<CheckedIncome | CheckLater> {
  const { database, vault } = context;
  const [application] = await readApplications(database, vault, [applicationId]);
  const policy = await policyOf(database, applicationId);
  if (application === undefined || application.decision === null || policy === null) {
    return { outcome: 'operator', reason: 'unreadable_application' };
  }
  const currency = String(application.fields.currency);
  const found = await observe(context, applicationId, currency);
  if ('retryAfterMs' in found) return found;
  const calendar = await calendarOf(database);
  const judged = found.fault === null ? judge(application, policy, found, calendar) : faulty(found.fault);
  await store(context, application, policy, { found, judged, calendar });
  return { outcome: judged.outcome, reason: judged.reason };
}

interface Found {
  readonly fault: IncomeReason | null;
  readonly method: IncomeMethod;
  readonly observations: readonly Observation[];
  readonly confidence: number;
  readonly reader: string;
}

const NOTHING: Found = { fault: null, method: 'none', observations: [], confidence: 0, reader: 'none' };

async function observe(
  { documents, operator, provider }: IncomeContext,
  applicationId: ApplicationId,
  currency: string,
): Promise<Found | CheckLater> {
  const request = { applicationId, currency, link: null };
  const signal = AbortSignal.timeout(PROVIDER_MS);
  const read = await documents.observe(request, signal);
  const stated = await operator.observe(request, signal);
  if ([read, stated].some(isWaiting)) return { ...NOTHING, fault: 'documents_waiting' };
  const both = [read, stated].filter((answer) => answer.kind === 'observed');
  if (both.length > 0) {
    const method =
      both.length === 2 ? 'documents and operator' : read.kind === 'observed' ? 'documents' : 'operator';
    return { ...joined(both), fault: null, method };
  }
  if (provider === null) return { ...NOTHING, fault: 'no_documents' };
  const answer = await provider.observe(request, signal);
  if (answer.kind === 'wait') return { retryAfterMs: answer.retryAfterMs, reason: 'provider' };
  if (answer.kind !== 'observed') {
    return { ...NOTHING, fault: answer.kind === 'next_step' ? 'person_needed' : 'no_documents' };
  }
  return { ...joined([answer]), fault: null, method: 'provider' };
}

function isWaiting(answer: SourceAnswer): boolean {
  return answer.kind === 'nothing' && answer.reason === 'documents_waiting';
}

function joined(answers: readonly Observed[]): Pick<Found, 'observations' | 'confidence' | 'reader'> {
  return {
    observations: answers.flatMap((answer) => answer.observations),
    confidence: Math.min(...answers.map((answer) => answer.confidence)),
    reader: [...new Set(answers.map((answer) => answer.reader))].join(', '),
  };
}

function faulty(reason: IncomeReason): IncomeJudgement {
  return { outcome: 'operator', reason, months: [], observed: null, again: null };
}

function judge(
  { fields, decision }: StoredApplication,
  policy: Policy,
  { observations }: Found,
  calendar: Calendar,
): IncomeJudgement {
  // The fields that the scorecard reads are columns: an erased or unreadable person has them too.
  const application = fields as unknown as Application;
  const declared = {
    income: application.income,
    currency: application.currency,
    decision: decision ?? 'rejected',
    assess: (income: number) => assess({ ...application, income }, policy),
  };
  return judgeIncome(declared, observations, calendar, policy.income ?? DEFAULT_INCOME_RULES);
}

interface Made {
  readonly found: Found;
  readonly judged: IncomeJudgement;
  readonly calendar: Calendar;
}

async function store(
  { database, vault }: IncomeContext,
  { id, fields }: StoredApplication,
  policy: Policy,
  { found, judged, calendar }: Made,
): Promise<void> {
  const rules = policy.income ?? DEFAULT_INCOME_RULES;
  const evidence = JSON.stringify({ observations: found.observations, months: judged.months });
  const declared = Math.round(Number(fields.income) * 100);
  const facts = [
    evidence,
    found.method,
    found.fault,
    found.confidence,
    declared,
    calendar.lastWhole,
    policy,
    rules,
  ];
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  await inTransaction(database, async (session) => {
    await requireLiveKey(session, vault);
    await addIncomeCheck(session, id, {
      ...judged,
      digest,
      method: found.method,
      currency: String(fields.currency),
      declared,
      months: judged.months.length,
      confidence: found.confidence,
      layouts: [...new Set(found.observations.map(({ source }) => source))].sort(),
      reader: found.reader,
      policyVersion: policy.version,
      rules,
      evidence: vault.seal(evidence, evidenceIdentity(id, digest)),
    });
  });
}
