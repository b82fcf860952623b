/**
 * Asks the sources of an income one after the other, and keeps the sealed session of a provider that waits for the
 * person (docs/income.md, "Sources"). Reads documents, calls the provider, and writes `income_steps`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { matchHolder } from '../../../domain/document/holder.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { StoredApplication } from '../../applications/sql/applications.ts';
import type { IncomeReason, Observation } from '../rules/judge-income.ts';
import type {
  IncomeRequest,
  IncomeSource,
  NextStep,
  Observed,
  Provider,
  SourceAnswer,
} from '../sources/income-source.ts';
import type { IncomeMethod } from '../sql/income-checks.ts';
import { keepStep, stepIdentity, stepOf } from '../sql/income-steps.ts';
import { forgetErased } from './forget-erased.ts';

/** What a check works with. */
export interface IncomeContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** What services and operators read in documents. */
  readonly documents: IncomeSource;
  readonly operator: IncomeSource;
  /** Asked only if there are no documents; null: no provider is set. */
  readonly provider: Provider | null;
}

/** What was found. */
export interface Found {
  /** A fault that decides whatever the amounts are; null: there is none. */
  readonly fault: IncomeReason | null;
  readonly method: IncomeMethod;
  readonly observations: readonly Observation[];
  readonly confidence: number;
  readonly reader: string;
}

/** The source is working: call again after this time. */
export interface CheckLater {
  readonly retryAfterMs: number;
  readonly reason: 'provider';
}

/** The person has to do something first: open a link that is for this person alone, or enter the code of the bank. */
export type StepAsked =
  | { readonly step: 'open_link'; readonly link: string }
  | { readonly step: 'enter_code' };

const PROVIDER_MS = 60_000;
const NOTHING: Found = { fault: null, method: 'none', observations: [], confidence: 0, reader: 'none' };

/**
 * What documents and operators say; if there is nothing, what the provider says. `code`: what the person entered; null:
 * nothing.
 */
export async function askSources(
  context: IncomeContext,
  application: StoredApplication,
  code: string | null,
): Promise<Found | CheckLater | StepAsked> {
  const request = { applicationId: application.id, currency: String(application.fields.currency) };
  const signal = context.clock.timeout(PROVIDER_MS);
  const read = await context.documents.observe(request, signal);
  const stated = await context.operator.observe(request, signal);
  if ([read, stated].some(isWaiting)) return { ...NOTHING, fault: 'documents_waiting' };
  const both = [read, stated].filter((answer) => answer.kind === 'observed');
  if (both.length > 0) {
    const method =
      both.length === 2 ? 'documents and operator' : read.kind === 'observed' ? 'documents' : 'operator';
    return { ...joined(both), fault: null, method };
  }
  if (context.provider === null) return { ...NOTHING, fault: 'no_documents' };
  const answer = await askProvider(context, context.provider, request, code, signal);
  switch (answer.kind) {
    case 'wait':
      return { retryAfterMs: answer.retryAfterMs, reason: 'provider' };
    case 'nothing':
      return { ...NOTHING, fault: 'no_documents' };
    case 'next_step':
      return keep(context, request.applicationId, answer);
    case 'observed':
      return { ...joined([answer]), fault: holderFault(application, answer), method: 'provider' };
  }
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

/** Lets the provider go on after the step that it asked for last. */
async function askProvider(
  { database, vault }: IncomeContext,
  provider: Provider,
  request: IncomeRequest,
  code: string | null,
  signal: AbortSignal,
): Promise<SourceAnswer> {
  const sealed = await stepOf(database, request.applicationId);
  if (sealed === null) return provider.observe(request, signal);
  const session = vault.open(sealed, stepIdentity(request.applicationId)).toString();
  return provider.resume(request, session, code, signal);
}

/** The longest link that fits a text of the channel, with room for the words before it. */
const LONGEST_LINK = 2_000;
const LINK = /^https:\/\/[\x21-\x7e]+$/;

/** Stores the session, before the person hears of the step. */
async function keep(
  { database, vault }: IncomeContext,
  id: ApplicationId,
  asked: NextStep,
): Promise<Found | StepAsked> {
  const isBad = asked.step === 'open_link' && (asked.link.length > LONGEST_LINK || !LINK.test(asked.link));
  if (isBad) return { ...NOTHING, fault: 'no_documents' };
  await keepStep(database, id, vault.seal(asked.session, stepIdentity(id)));
  await forgetErased(database, id);
  return asked.step === 'open_link' ? { step: 'open_link', link: asked.link } : { step: 'enter_code' };
}

/** An account of another person says nothing about the applicant. */
function holderFault({ fields }: StoredApplication, { holder }: Observed): IncomeReason | null {
  if (holder === null) return null;
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
  const applicant = { name: textOf(fields.name), idNumber: textOf(fields.id_number) };
  const match = matchHolder(applicant, holder);
  return match === 'same' ? null : match === 'another' ? 'another_holder' : 'holder_not_found';
}
