/**
 * Renders the answers to a batch and to the quota, in either language (contract, "Versioning"; D13, D22, D23, D25).
 * Pure.
 */
import { type ApplicationStatus, INITIAL_STATUS } from '../../domain/application/lifecycle.ts';
import type { NotRegistered, Outcome, Registered } from '../../domain/application/read-application.ts';
import type { Environment } from '../../domain/partner/credential.ts';
import type { Decision } from '../../domain/scorecard/scorecard.ts';
import { withOffset } from '../../ground/base/clock.ts';
import type { Language } from '../../ground/base/language.ts';
import { codesOf, type FaultText, REFUSAL_TEXTS } from './texts.ts';

/** The member names that differ between the languages. D25 lists the names that are the same. */
export const NAMES = {
  en: {
    processed: 'processed',
    errors: 'errors',
    results: 'results',
    errors_detail: 'errors_detail',
    id_number: 'id_number',
    name: 'name',
    status: 'status',
    remaining: 'remaining',
    daily_cap: 'daily_cap',
    partner_name: 'name',
    partner_country: 'country',
  },
  es: {
    processed: 'procesados',
    errors: 'errores',
    results: 'resultados',
    errors_detail: 'errores_detalle',
    id_number: 'cedula',
    name: 'nombre',
    status: 'estado',
    remaining: 'restante',
    daily_cap: 'cap_diario',
    partner_name: 'nombre',
    partner_country: 'pais',
  },
} as const satisfies Record<Language, Record<string, string>>;

/** The name of each decision, by language. */
export const DECISION_NAMES: Record<Language, Record<Decision, string>> = {
  en: { approved: 'approved', in_review: 'in_review', rejected: 'rejected' },
  es: { approved: 'approved', in_review: 'en_revision', rejected: 'rechazado' },
};

/** The name of each status that a new application can have, by language. */
export const STATUS_NAMES: Record<Language, Record<Exclude<ApplicationStatus, 'disbursed'>, string>> = {
  en: { pending_signature: 'pending_signature', in_review: 'in_review', rejected: 'rejected' },
  es: { pending_signature: 'firma_pendiente', in_review: 'en_revision', rejected: 'rechazado' },
};

/** The name of each status that an application can come to, by language. `disbursed` has no Spanish name (D25). */
export const LATER_STATUS_NAMES: Record<Language, Record<ApplicationStatus, string>> = {
  en: { ...STATUS_NAMES.en, disbursed: 'disbursed' },
  es: { ...STATUS_NAMES.es, disbursed: 'disbursed' },
};

/** The name of the quota window (contract, "Quota status"). */
export const QUOTA_WINDOW = 'rolling_24h';

/** The answer to a batch, as JSON text. */
export function renderBatch(...batch: Parameters<typeof batchAnswer>): string {
  return JSON.stringify(batchAnswer(...batch));
}

/** The answer to a batch. `withCodes`: errors have their codes too (D55). */
export function batchAnswer(
  outcomes: readonly Outcome[],
  language: Language,
  environment: Environment,
  faultText: FaultText,
  withCodes = false,
): Readonly<Record<string, unknown>> {
  const names = NAMES[language];
  const results: object[] = [];
  const errors: object[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind === 'registered') results.push(resultEntry(outcome, language, environment));
    else {
      const entry = errorEntry(outcome, language, faultText);
      errors.push(withCodes ? { ...entry, ...codesOf(outcome) } : entry);
    }
  }
  const answer: Record<string, unknown> = {
    [names.processed]: results.length,
    [names.errors]: errors.length,
    [names.results]: results,
  };
  if (errors.length > 0) answer[names.errors_detail] = errors;
  if (environment === 'DEV') answer.mode = 'dev';
  return answer;
}

function resultEntry(registered: Registered, language: Language, environment: Environment): object {
  const names = NAMES[language];
  const entry: Record<string, unknown> = {
    [names.id_number]: registered.idNumber,
    [names.name]: registered.name,
    id: registered.id,
    score: registered.score,
    decision: DECISION_NAMES[language][registered.decision],
    [names.status]: STATUS_NAMES[language][INITIAL_STATUS[registered.decision]],
  };
  if (environment === 'DEV') entry.simulated = true;
  if (registered.wouldNotify !== undefined) entry.would_notify = registered.wouldNotify;
  return entry;
}

function errorEntry(refusal: NotRegistered, language: Language, faultText: FaultText): object {
  const names = NAMES[language];
  switch (refusal.kind) {
    case 'not_an_object':
      return { [names.id_number]: null, error: REFUSAL_TEXTS.not_an_object[language] };
    case 'invalid':
      return { [names.id_number]: refusal.idNumber, error: faultText(refusal.faults, language) };
    case 'duplicate':
      return { [names.id_number]: refusal.idNumber, error: REFUSAL_TEXTS.duplicate[language] };
    case 'over_quota':
      return {
        [names.id_number]: refusal.idNumber,
        error: REFUSAL_TEXTS.over_quota[language],
        [names.remaining]: refusal.remaining,
        [names.daily_cap]: refusal.dailyCap,
      };
  }
}

interface QuotaStatus {
  readonly partnerName: string;
  readonly partnerCountry: string;
  readonly dailyCap: number | null;
  readonly used24h: number;
  readonly remaining: number | null;
  readonly fetchedAt: Date;
}

/** The answer to GET, as JSON text. */
export function renderQuota(quota: QuotaStatus, language: Language, environment: Environment): string {
  const names = NAMES[language];
  const answer: Record<string, unknown> = {
    partner: {
      [names.partner_name]: quota.partnerName,
      [names.partner_country]: quota.partnerCountry,
      [names.daily_cap]: quota.dailyCap,
      used_24h: quota.used24h,
      remaining: quota.remaining,
    },
    window: QUOTA_WINDOW,
    fetched_at: withOffset(quota.fetchedAt),
  };
  if (environment === 'DEV') answer.mode = 'dev';
  return JSON.stringify(answer);
}
