/**
 * Every error text of the interface in both languages, the codes beside the texts, and the choice of both (D14, D24,
 * D26, D55; contract, "HTTP codes", "Per-application errors"). Pure.
 */
import type { FieldName, NamedField } from '../../domain/application/fields.ts';
import type { Fault, NotRegistered, Problem } from '../../domain/application/read-application.ts';
import type { Language, LanguageSetting } from '../../ground/base/language.ts';

/** The most applications in a request, and the most bytes of a body (contract, "Limits"; D3). */
export const MAX_APPLICATIONS = 100;
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** The most events in a page of the feed, and how many a page has if the request does not say (D41). */
export const MAX_EVENTS = 500;
export const DEFAULT_EVENTS = 100;
/** The most applications in a page of a search, and how many a page has if the request does not say (D56). */
export const MAX_FOUND = 100;
/** The most JSON values in a body over `UNCOUNTED_BYTES`: 500 for each application. */
export const MAX_VALUES = 500 * MAX_APPLICATIONS;
/** The values of a body up to this size are not counted, because they cost little. */
export const UNCOUNTED_BYTES = 64 * 1024;

const REQUEST_TEXTS = {
  unauthorized: { en: 'API key invalid or absent', es: 'API key inválida o ausente' },
  key_for_pro: {
    en: 'API key is not for this environment: it is for /PRO',
    es: 'API key no es para este ambiente: es para /PRO',
  },
  key_for_dev: {
    en: 'API key is not for this environment: it is for /DEV',
    es: 'API key no es para este ambiente: es para /DEV',
  },
  not_found: { en: 'not found', es: 'no encontrado' },
  no_page: {
    en: 'not found; the documentation is at {base}/docs',
    es: 'no encontrado; la documentación está en {base}/docs',
  },
  method_not_allowed: {
    en: 'method not allowed (only POST and GET)',
    es: 'método no permitido (solo POST y GET)',
  },
  only_get: { en: 'method not allowed (only GET)', es: 'método no permitido (solo GET)' },
  content_type: {
    en: 'Content-Type must be application/json',
    es: 'Content-Type debe ser application/json',
  },
  compressed: {
    en: 'the body must not be compressed (Content-Encoding)',
    es: 'el cuerpo no debe estar comprimido (Content-Encoding)',
  },
  not_utf8: { en: 'the body must be UTF-8', es: 'el cuerpo debe estar en UTF-8' },
  byte_order_mark: {
    en: 'the body must not begin with a byte order mark (BOM)',
    es: 'el cuerpo no debe comenzar con una marca de orden de bytes (BOM)',
  },
  not_json: { en: 'the body is not valid JSON', es: 'el cuerpo no es JSON válido' },
  not_an_object: {
    en: 'the body must be a JSON object with an applications array',
    es: 'el cuerpo debe ser un objeto JSON con un arreglo aplicaciones',
  },
  no_applications: {
    en: 'applications is required and must be an array',
    es: 'aplicaciones es requerido y debe ser un arreglo',
  },
  empty_batch: {
    en: 'applications must hold at least 1 application',
    es: 'aplicaciones debe tener al menos 1 solicitud',
  },
  too_many: {
    en: `applications must hold at most ${MAX_APPLICATIONS} applications`,
    es: `aplicaciones debe tener como máximo ${MAX_APPLICATIONS} solicitudes`,
  },
  too_large: {
    en: 'the body must be at most {bytes} bytes',
    es: 'el cuerpo debe tener como máximo {bytes} bytes',
  },
  too_many_values: {
    en: `the body must hold at most ${MAX_VALUES} values`,
    es: `el cuerpo debe tener como máximo ${MAX_VALUES} valores`,
  },
  idempotency_key: {
    en: 'Idempotency-Key must be 1 to 255 printable ASCII characters',
    es: 'Idempotency-Key debe tener de 1 a 255 caracteres ASCII imprimibles',
  },
  idempotency_reuse: {
    en: 'Idempotency-Key was already used with another body',
    es: 'Idempotency-Key ya se usó con otro cuerpo',
  },
  bad_search: {
    en: 'the body must be a JSON object with id_number or day, and not with both',
    es: 'el cuerpo debe ser un objeto JSON con cedula o con day, y no con ambos',
  },
  bad_id_number: {
    en: 'id_number must be text of 1 to 64 characters',
    es: 'cedula debe ser texto de 1 a 64 caracteres',
  },
  bad_day: {
    en: 'day must be a date of the form YYYY-MM-DD',
    es: 'day debe ser una fecha de la forma AAAA-MM-DD',
  },
  bad_page_size: {
    en: `limit must be a whole number from 1 to ${MAX_FOUND}`,
    es: `limit debe ser un número entero de 1 a ${MAX_FOUND}`,
  },
  bad_page_cursor: {
    en: 'cursor must be the next of a page of the same search',
    es: 'cursor debe ser el next de una página de la misma búsqueda',
  },
  bad_limit: {
    en: `limit must be given at most once, as a whole number from 1 to ${MAX_EVENTS}`,
    es: `limit debe darse una vez como máximo, como número entero de 1 a ${MAX_EVENTS}`,
  },
  bad_cursor: {
    en: 'after must be given at most once, as a cursor that this feed gave you',
    es: 'after debe darse una vez como máximo, como un cursor dado por esta ruta',
  },
  bad_types: {
    en: 'types must be given at most once, as names of event types with commas between them, each name once',
    es: 'types debe darse una vez como máximo, como nombres de tipos de evento separados por comas, cada uno una vez',
  },
  cursor_gone: {
    en: 'the events after this cursor are no longer kept; start again without after',
    es: 'los eventos posteriores a este cursor ya no se conservan; empiece de nuevo sin after',
  },
  bad_request: { en: 'the request could not be read', es: 'no se pudo leer la petición' },
  internal: { en: 'temporary internal error; retry', es: 'error interno temporal; reintente' },
} as const satisfies Record<string, Record<Language, string>>;

/** A problem of a whole request. */
export type RequestProblem = keyof typeof REQUEST_TEXTS;
export const REQUEST_PROBLEMS = Object.keys(REQUEST_TEXTS) as RequestProblem[];

/** The HTTP codes of failed requests. */
export type FailureStatus = 400 | 401 | 404 | 405 | 410 | 413 | 500;

/** The HTTP codes other than 400. */
const REQUEST_STATUS: Partial<Record<RequestProblem, FailureStatus>> = {
  unauthorized: 401,
  key_for_pro: 401,
  key_for_dev: 401,
  not_found: 404,
  no_page: 404,
  method_not_allowed: 405,
  only_get: 405,
  cursor_gone: 410,
  too_large: 413,
  internal: 500,
};

/** The HTTP code of a request's problem (contract, "HTTP codes"; D3). */
export function requestStatus(problem: RequestProblem): FailureStatus {
  return REQUEST_STATUS[problem] ?? 400;
}

/** The text of a request's problem. `bytes`: the most that a body of the route may have; `base`: the base path. */
export function requestText(
  problem: RequestProblem,
  language: Language,
  { bytes = MAX_BODY_BYTES, base = '' } = {},
): string {
  return REQUEST_TEXTS[problem][language].replace('{bytes}', String(bytes)).replace('{base}', base);
}

/** The texts of refusals without a fault of a field (D14, D26). */
export const REFUSAL_TEXTS = {
  not_an_object: { en: 'application must be an object', es: 'la solicitud debe ser un objeto' },
  duplicate: {
    en: 'a request already exists for this messaging-channel number',
    es: 'ya existe una solicitud para este número del canal de mensajería',
  },
  over_quota: { en: 'quota_partner_exceeded', es: 'quota_partner_excedida' },
} as const satisfies Record<string, Record<Language, string>>;

/** Joins the faults of one application into one error text (D14). */
export type FaultText = (faults: readonly Fault[], language: Language) => string;

/** Makes the texts of faults from the field table (D14, D26). */
export function faultTexts(fields: readonly NamedField[]): FaultText {
  const byName = new Map<FieldName, NamedField>(fields.map((field) => [field.name, field]));
  return (faults, language) =>
    faults.map((fault) => faultText(fault, byName.get(fault.field)!, language)).join('; ');
}

function faultText(fault: Fault, field: NamedField, language: Language): string {
  const name = fault.name ?? (language === 'en' ? field.name : field.aliases[0]);
  const english = language === 'en';
  switch (fault.problem) {
    case 'required':
      return english ? `${name} is required` : `${name} es requerido`;
    case 'amount':
      return english
        ? `${name} is required and must be > 0 (numeric)`
        : `${name} es requerido y debe ser > 0 (numérico)`;
    case 'choice': {
      const values = choices(field, name, language);
      return english
        ? `${name} is required and must be one of: ${values}`
        : `${name} es requerido y debe ser uno de: ${values}`;
    }
    case 'consent':
      return english
        ? `${name} is required and must be true or false`
        : `${name} es requerido y debe ser true o false`;
    case 'phone':
      return english
        ? `${name} must be a number with country code`
        : `${name} debe ser un número con código de país`;
    case 'text': {
      const max = 'max' in field.rule ? field.rule.max : 0;
      return english
        ? `${name} must be text of at most ${max} characters`
        : `${name} debe ser texto de máximo ${max} caracteres`;
    }
    case 'instant':
      return english
        ? `${name} must be a date and time (ISO 8601)`
        : `${name} debe ser una fecha y hora (ISO 8601)`;
  }
}

/** The list of choices: Spanish words in a Spanish answer or under a Spanish name (D26). */
function choices(field: NamedField, name: string, language: Language): string {
  if (field.rule.kind !== 'choice') return '';
  const spanish = field.rule.spanish;
  const inSpanish = spanish !== undefined && (language === 'es' || name !== field.name);
  return (inSpanish ? Object.keys(spanish) : field.rule.values).join(', ');
}

// The second part: codes that a program can read, in answers to requests that ask for them (D55). Names are English.

/** The code of an element that was not registered. Names are English in every language. */
export const ERROR_CODES = {
  not_an_object: 'not_an_object',
  invalid: 'invalid',
  duplicate: 'duplicate',
  over_quota: 'quota_exceeded',
} as const satisfies Record<NotRegistered['kind'], string>;

/** The rules that a field can break, as `fields[].code` names them. */
export const FIELD_CODES = ['required', 'amount', 'choice', 'consent', 'phone', 'text', 'instant'] as const;
export type FieldCode = (typeof FIELD_CODES)[number] & Problem;

/** A field that breaks its rule: its documented English name, the name that was sent, and the rule. */
export interface FieldError {
  readonly name: string;
  /** null: the field is absent. */
  readonly sent_as: string | null;
  readonly code: FieldCode;
}

/** What the profile adds to an entry of `errors_detail`. */
export function codesOf(refusal: NotRegistered): { code: string; fields?: FieldError[] } {
  const code = ERROR_CODES[refusal.kind];
  return refusal.kind === 'invalid' ? { code, fields: refusal.faults.map(fieldError) } : { code };
}

/** A field that is absent lacks its value, whatever its rule asks of a value. */
export function fieldError({ field, name, problem }: Fault): FieldError {
  return { name: field, sent_as: name, code: name === null ? 'required' : problem };
}

/** Whether an `Accept` header asks for the profile (RFC 9110, 12.5.1; RFC 6906). A weight of 0 refuses it. */
export function asksForCodes(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isJson = ['application/json', 'application/*', '*/*'].includes(type);
    const asks = parameters.some((one) => /^profile\s*=\s*("codes"|codes)$/.test(one));
    return isJson && asks && !parameters.some((one) => /^q=0(\.0{0,3})?$/.test(one));
  });
}

// The third part: chooses the language of an answer (D24).

/** Spanish if the header prefers `es` over `en`, else English, also for a malformed header. */
export function languageOfHeader(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  return quality(acceptLanguage, 'es') > quality(acceptLanguage, 'en') ? 'es' : 'en';
}

/** The key's pinned language, else the requested language. */
export function chooseLanguage(setting: LanguageSetting, requested: Language): Language {
  return setting === 'auto' ? requested : setting;
}

/** The highest q-value of a language in the header, with or without a region. `*` stands for languages not named. */
function quality(header: string, language: Language): number {
  let named: number | undefined;
  let wildcard = 0;
  for (const item of header.toLowerCase().split(',')) {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
    const q = qualityValue(parameters);
    if (range === '*') wildcard = Math.max(wildcard, q);
    else if (range === language || range.startsWith(`${language}-`)) named = Math.max(named ?? 0, q);
  }
  return named ?? wildcard;
}

function qualityValue(parameters: readonly string[]): number {
  const parameter = parameters.find((candidate) => candidate.startsWith('q='));
  if (parameter === undefined) return 1;
  const text = parameter.slice(2).trim();
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
