/**
 * The schemas of answers in one language, made from the names and values of real answers (contract, "Resources"; D22,
 * D25). Pure.
 */

import type { NamedField } from '../../domain/application/fields.ts';
import { OUTCOME_TYPES } from '../../domain/message/notify.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/partner/credential.ts';
import { MAX_DIGITS, MIN_DIGITS } from '../../domain/phone/phone.ts';
import type { Language } from '../../ground/base/language.ts';
import { faultCatalogue } from './catalogue.ts';
import { reference, type Schema } from './openapi-request.ts';
import { DECISION_NAMES, NAMES, QUOTA_WINDOW, STATUS_NAMES } from './response.ts';
import { ERROR_CODES, FIELD_CODES, MAX_APPLICATIONS, REFUSAL_TEXTS } from './texts.ts';

/** `BatchAnswer` and `DEV` become `BatchAnswerDev`. */
export function answerName(
  what: 'BatchAnswer' | 'Result' | 'Quota' | 'Found',
  environment: Environment,
): string {
  return `${what}${environment === 'PRO' ? 'Pro' : 'Dev'}`;
}

/** Every component of the answers. The schemas allow more members, because a later version may add some. */
export function responseSchemas(fields: readonly NamedField[], language: Language): Record<string, Schema> {
  const schemas: Record<string, Schema> = {
    WouldNotify: WOULD_NOTIFY,
    Failure: FAILURE,
    ErrorEntry: errorEntry(fields, language),
  };
  for (const environment of ENVIRONMENTS) {
    schemas[answerName('BatchAnswer', environment)] = batchAnswer(environment, language);
    schemas[answerName('Result', environment)] = result(environment, language);
    schemas[answerName('Quota', environment)] = quota(environment, language);
  }
  return schemas;
}

/** An object in which only the members in `optional` may be absent. */
export function record(properties: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  };
}

const MODE = { type: 'string', const: 'dev' };

const ONLY_WITH_CODES = 'Only where the request has `Accept: application/json; profile=codes`.';

const FIELD_ERRORS: Schema = {
  description: `The fields at fault. ${ONLY_WITH_CODES}`,
  type: 'array',
  minItems: 1,
  items: record({
    name: { description: 'The documented English name.', type: 'string' },
    sent_as: {
      description: 'The name that was sent; null where the field is absent.',
      type: ['string', 'null'],
    },
    code: { type: 'string', enum: FIELD_CODES },
  }),
};

const FAILURE: Schema = {
  description: 'The whole request failed; nothing of it was registered.',
  ...record({ error: { type: 'string' } }, { code: { description: ONLY_WITH_CODES, type: 'string' } }),
};

const WOULD_NOTIFY: Schema = {
  description: 'The message that production would send; absent without consent or without a phone.',
  ...record({
    type: { type: 'string', enum: OUTCOME_TYPES },
    destination: {
      description: 'The phone in E.164 form.',
      type: 'string',
      pattern: `^\\+[1-9][0-9]{${MIN_DIGITS - 1},${MAX_DIGITS - 1}}$`,
    },
    template: { description: "The template's name, from the key's brand.", type: 'string' },
  }),
};

function batchAnswer(environment: Environment, language: Language): Schema {
  const names = NAMES[language];
  const count = { type: 'integer', minimum: 0, maximum: MAX_APPLICATIONS };
  const errors = {
    description: 'Only where at least one application was not registered, in the order of submission.',
    type: 'array',
    minItems: 1,
    maxItems: MAX_APPLICATIONS,
    items: reference('ErrorEntry'),
  };
  return record(
    {
      [names.processed]: { description: 'How many were registered.', ...count },
      [names.errors]: { description: 'How many were not.', ...count },
      [names.results]: {
        description: 'What was registered, in the order of submission.',
        type: 'array',
        maxItems: MAX_APPLICATIONS,
        items: reference(answerName('Result', environment)),
      },
      ...(environment === 'DEV' ? { mode: MODE } : {}),
    },
    { [names.errors_detail]: errors },
  );
}

function result(environment: Environment, language: Language): Schema {
  const names = NAMES[language];
  const dev = environment === 'DEV';
  return record(
    {
      [names.id_number]: { description: 'As submitted, trimmed.', type: 'string' },
      [names.name]: { description: 'As submitted, trimmed.', type: 'string' },
      id: dev
        ? { description: 'Nothing is stored.', type: 'null' }
        : { description: 'Of the application that was created.', type: 'integer', minimum: 1 },
      score: { type: 'integer', minimum: 0, maximum: 100 },
      decision: { type: 'string', enum: Object.values(DECISION_NAMES[language]) },
      [names.status]: { type: 'string', enum: [...new Set(Object.values(STATUS_NAMES[language]))] },
      ...(dev ? { simulated: { type: 'boolean', const: true } } : {}),
    },
    dev ? { would_notify: reference('WouldNotify') } : {},
  );
}

function errorEntry(fields: readonly NamedField[], language: Language): Schema {
  const names = NAMES[language];
  const echo = {
    description: 'As submitted, of a longer one the first 64 characters; null where there is none.',
    type: ['string', 'null'],
  };
  const texts = faultCatalogue(fields).map((fault) => fault.texts[language]);
  const fault = {
    description: `One or more of these, joined by \`; \`, each naming the field as it was sent:\n${texts.map((text) => `- \`${text}\``).join('\n')}`,
    type: 'string',
    not: { enum: Object.values(REFUSAL_TEXTS).map((refusal) => refusal[language]) },
    examples: texts,
  };
  // Generators take the title for the name of the type.
  const entry = (
    [title, kind]: readonly [string, keyof typeof ERROR_CODES],
    description: string,
    idNumber: Schema,
    error: Schema,
    more: Record<string, Schema> = {},
  ) => ({
    title,
    description,
    ...record(
      { [names.id_number]: idNumber, error, ...more },
      {
        code: { description: ONLY_WITH_CODES, type: 'string', const: ERROR_CODES[kind] },
        ...(kind === 'invalid' && { fields: FIELD_ERRORS }),
      },
    ),
  });
  return {
    oneOf: [
      entry(['InvalidEntry', 'invalid'], 'A field is missing or wrong.', echo, fault),
      entry(
        ['DuplicateEntry', 'duplicate'],
        'An open application has the phone.',
        { type: 'string' },
        { type: 'string', const: REFUSAL_TEXTS.duplicate[language] },
      ),
      entry(
        ['QuotaEntry', 'over_quota'],
        'The daily quota is used up.',
        { type: 'string' },
        { type: 'string', const: REFUSAL_TEXTS.over_quota[language] },
        {
          [names.remaining]: { type: 'integer', minimum: 0 },
          [names.daily_cap]: { type: 'integer', minimum: 0 },
        },
      ),
      entry(
        ['NotAnObjectEntry', 'not_an_object'],
        'The element is not an object.',
        { type: 'null' },
        { type: 'string', const: REFUSAL_TEXTS.not_an_object[language] },
      ),
    ],
  };
}

function quota(environment: Environment, language: Language): Schema {
  const names = NAMES[language];
  const orNone = { description: 'null: the key has no cap.', type: ['integer', 'null'], minimum: 0 };
  return record({
    partner: record({
      [names.partner_name]: { type: 'string' },
      [names.partner_country]: { description: 'ISO 3166-1 alpha-2.', type: 'string', pattern: '^[A-Z]{2}$' },
      [names.daily_cap]: orNone,
      used_24h: { description: 'Registered in the last 24 hours.', type: 'integer', minimum: 0 },
      remaining: orNone,
    }),
    window: { type: 'string', const: QUOTA_WINDOW },
    fetched_at: { description: 'With a numeric UTC offset.', type: 'string', format: 'date-time' },
    ...(environment === 'DEV' ? { mode: MODE } : {}),
  });
}
