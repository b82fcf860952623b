/**
 * The schemas of requests in one language, made from the field table (JSON Schema 2020-12; D3-D12). Pure. A schema has
 * the documented names and spellings alone, so that generated clients have plain types. The service takes more, and the
 * descriptions say what.
 */

import type { NamedField } from '../../domain/application/fields.ts';
import { MAX_DIGITS, MIN_DIGITS } from '../../domain/phone/phone.ts';
import type { Language } from '../../ground/base/language.ts';
import { describeRule, isRequired, nameIn } from './describe.ts';
import { exampleApplication, wordIn } from './examples.ts';
import { MAX_APPLICATIONS } from './texts.ts';

/** A JSON Schema (2020-12), or another object of the OpenAPI document. */
export type Schema = { readonly [keyword: string]: unknown };

const ABSENT: Schema = { type: 'null' };
/**
 * Control characters. The description mentions lone surrogates, because not every validator's patterns can name them.
 */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';

/** Refers to a component. */
export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The components by name: one for each field's value, and those of applications and batches. */
export function requestSchemas(fields: readonly NamedField[], language: Language): Record<string, Schema> {
  const values = fields.map((field) => [componentName(field), valueSchema(field, language)] as const);
  return {
    ...Object.fromEntries(values),
    Application: applicationSchema(fields, language),
    Batch: batchSchema(language),
  };
}

/** `debt_amount` becomes `DebtAmount`. */
function componentName({ name }: NamedField): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function valueSchema(field: NamedField, language: Language): Schema {
  return {
    // No title: generators would take it for the name of the type.
    description: `${field.about.en}.\n\n${describeRule(field, 'en')}`,
    ...takes(field, language),
    examples: [wordIn(field, field.example, language)],
  };
}

/** The schema of the documented values of a field, null apart. */
function takes(field: NamedField, language: Language): Schema {
  const { rule } = field;
  switch (rule.kind) {
    case 'text':
      return { type: 'string', pattern: `^\\s*${text(rule.max)}\\s*$` };
    case 'label':
    case 'note':
      return { type: 'string', pattern: `^\\s*(?:${text(rule.max)})?\\s*$` };
    case 'instant':
      return { type: 'string', pattern: INSTANT_OR_BLANK };
    case 'phone':
      return { type: 'string', maxLength: rule.max, pattern: PHONE_OR_BLANK };
    case 'currency':
      return { type: 'string' };
    case 'amount':
      return { type: 'number', exclusiveMinimum: 0 };
    case 'choice':
      return { type: 'string', enum: rule.values.map((value) => wordIn(field, value, language)) };
    case 'consent':
      return { type: 'boolean' };
  }
}

/** A text that neither begins nor ends with white space. */
function text(max: number): string {
  return `[^\\s${CONTROL}](?:[^${CONTROL}]{0,${max - 2}}[^\\s${CONTROL}])?`;
}

const BETWEEN = '[ \\u00a0.()-]*';
const digits = (least: number, most: number) => `(?:${BETWEEN}[0-9]){${least},${most}}`;
const INTERNATIONAL = `[1-9]${digits(MIN_DIGITS - 1, MAX_DIGITS - 1)}`;
/** A number after `+`, after `00`, or bare. A bare number may begin with 0, as dialled within a country. */
const PHONE_OR_BLANK = [
  `^\\s*(?:(?:[.()-]${BETWEEN})?`,
  `(?:\\+${BETWEEN}${INTERNATIONAL}|0${BETWEEN}0${BETWEEN}${INTERNATIONAL}|${INTERNATIONAL}`,
  `|0${BETWEEN}[1-9]${digits(MIN_DIGITS - 2, MAX_DIGITS - 2)})`,
  `(?:${BETWEEN}[.()-])?)?\\s*$`,
].join('');

/** A date, with or without a time. Whether the month has the day, a pattern cannot tell. */
const INSTANT_OR_BLANK = [
  '^\\s*(?:[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])',
  '(?:[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?',
  '(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)?)?)?\\s*$',
].join('');

const UNTOLD = [
  'What a schema cannot tell:',
  '- half of a surrogate pair in a text is refused, as control characters are;',
  '- an amount so large or so small that it is not a finite number > 0 is refused;',
  '- the length of `platform` counts after lower-casing, which makes a few letters longer;',
  '- a phone with country code is taken only where the country has numbers of that length;',
  "- a phone without country code is taken only where it is a valid number of the key's country, and not of the country of",
  '  `currency` too, or else a valid international number;',
  '- a day that its month does not have is refused in `consent_at`;',
  '- `POST /PRO` refuses phones that begin with +990, which are kept for the sandbox;',
  '- an open application with the same phone, and the quota, refuse an application on `POST /PRO`.',
].join('\n');

const LENIENCE = [
  'The service takes every application that matches, and more spellings than the schema has:',
  '- null is the same as absent, and fields that are not listed are ignored;',
  '- white space around a text, a phone or a choice does not count;',
  '- an amount may be a string, and `num_debts` an integer;',
  '- choices may have any capitalisation, and the English and the Spanish words are taken under every name;',
  '- a currency that is no text counts as absent.',
].join('\n');

const ALONE =
  'An application that the service refuses is refused alone, with an entry in the answer: the rest of the batch goes on.';

/** The applications of documented form. The service registers every one of them, except for the rules in `UNTOLD`. */
function applicationSchema(fields: readonly NamedField[], language: Language): Schema {
  const names = fields.map(({ names }) => `- ${names.map((name) => `\`${name}\``).join(', ')}`);
  const mixed = [
    'English and Spanish names may be mixed. Of several names of a field that are present, the first of its line is read:',
    ...names,
  ].join('\n');
  return {
    description: [ALONE, LENIENCE, mixed, UNTOLD].join('\n\n'),
    type: 'object',
    required: fields.filter(({ rule }) => isRequired(rule)).map((field) => nameIn(field, language)),
    properties: Object.fromEntries(
      fields.map((field) => {
        const value = reference(componentName(field));
        return [nameIn(field, language), isRequired(field.rule) ? value : { anyOf: [value, ABSENT] }];
      }),
    ),
    examples: [exampleApplication(fields, language)],
  };
}

function batchSchema(language: Language): Schema {
  const root = language === 'en' ? 'applications' : 'aplicaciones';
  return {
    type: 'object',
    required: [root],
    properties: {
      // The service reads the English root first.
      ...(language === 'es' ? { applications: ABSENT } : {}),
      [root]: { type: 'array', minItems: 1, maxItems: MAX_APPLICATIONS, items: reference('Application') },
    },
  };
}
