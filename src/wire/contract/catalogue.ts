/**
 * Lists every error that a partner can get, with its source and its texts, for the documentation (D1-D3, D14, D26, D36,
 * D41). Pure. `texts.ts` has the texts.
 */
import type { NamedField, Rule } from '../../domain/application/fields.ts';
import type { Problem } from '../../domain/application/read-application.ts';
import type { Environment } from '../../domain/partner/credential.ts';
import { LANGUAGES, type Words } from '../../ground/base/language.ts';
import { nameIn } from './describe.ts';
import { faultTexts, REQUEST_PROBLEMS, type RequestProblem, requestText } from './texts.ts';

/** The problems that a field can have, by the kind of its rule. A currency never has one (D12). */
const PROBLEMS: Readonly<Record<Rule['kind'], readonly Problem[]>> = {
  text: ['required', 'text'],
  label: ['text'],
  phone: ['phone', 'text'],
  currency: [],
  amount: ['amount'],
  choice: ['choice'],
  consent: ['consent'],
  note: ['text'],
  instant: ['instant'],
};

interface CataloguedFault {
  readonly field: NamedField;
  readonly problem: Problem;
  /** The texts with the documented name of the field. A real text has the name that was sent. */
  readonly texts: Words;
}

/** Every fault that an application can have, in the order of the answer (D14, D26). */
export function faultCatalogue(fields: readonly NamedField[]): readonly CataloguedFault[] {
  const textOf = faultTexts(fields);
  return fields.flatMap((field) =>
    PROBLEMS[field.rule.kind].map((problem) => {
      const textIn = (language: 'en' | 'es') =>
        textOf([{ field: field.name, name: nameIn(field, language), problem }], language);
      return { field, problem, texts: { en: textIn('en'), es: textIn('es') } };
    }),
  );
}

/** What a request does: registers a batch, or reads the quota, the events, one application or a search's page. */
export const OPERATIONS = ['submit', 'quota', 'events', 'application', 'search'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The problems that a request of one environment alone can have (D20, D36). */
const ON_ONE: Partial<Record<RequestProblem, Environment>> = {
  key_for_dev: 'PRO',
  key_for_pro: 'DEV',
  idempotency_key: 'PRO',
  idempotency_reuse: 'PRO',
};
const OF_ANY: readonly RequestProblem[] = [
  'bad_request',
  'unauthorized',
  'key_for_dev',
  'key_for_pro',
  'internal',
];

/** The problems of every body. */
const OF_BODIES: readonly RequestProblem[] = [
  'method_not_allowed',
  'content_type',
  'compressed',
  'not_utf8',
  'byte_order_mark',
  'not_json',
  'too_large',
  'too_many_values',
];

/** The problems that a request of each operation can have. */
const PROBLEMS_OF: Readonly<Record<Operation, readonly RequestProblem[]>> = {
  submit: [
    ...OF_ANY,
    ...OF_BODIES,
    'not_an_object',
    'no_applications',
    'empty_batch',
    'too_many',
    'idempotency_key',
    'idempotency_reuse',
  ],
  quota: [...OF_ANY, 'method_not_allowed'],
  events: [...OF_ANY, 'only_get', 'bad_limit', 'bad_cursor', 'bad_types', 'cursor_gone'],
  application: [...OF_ANY, 'only_get', 'not_found'],
  search: [
    ...OF_ANY,
    ...OF_BODIES,
    'bad_search',
    'bad_id_number',
    'bad_day',
    'bad_page_size',
    'bad_page_cursor',
  ],
};

/** The problems that a whole request can have, in the order of the texts (D1-D3, D36, D41, D56). */
export function problemsOf(operation: Operation, environment: Environment): readonly RequestProblem[] {
  return REQUEST_PROBLEMS.filter(
    (problem) => PROBLEMS_OF[operation].includes(problem) && (ON_ONE[problem] ?? environment) === environment,
  );
}

/** The texts of a request's problem in every language. */
export function problemTexts(problem: RequestProblem): readonly string[] {
  return LANGUAGES.map((language) => requestText(problem, language));
}
