/** The schemas of requests, made from the field table (JSON Schema 2020-12; D3-D12). */
import type { NamedField, Rule } from '../domain/application/fields.ts';
import { MAX_DIGITS, MIN_DIGITS } from '../domain/application/phone.ts';
import { describeRule, isLegacy, isRequired, nameIn } from './describe.ts';
import { exampleApplication } from './examples.ts';
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
export function requestSchemas(fields: readonly NamedField[]): Record<string, Schema> {
  const values = fields.map((field) => [componentName(field), valueSchema(field)] as const);
  return {
    ...Object.fromEntries(values),
    Application: applicationSchema(fields),
    Solicitud: spanishSchema(fields),
    Batch: batchSchema('applications', {}, reference('Application')),
    Lote: {
      ...batchSchema(
        'aplicaciones',
        { applications: ABSENT },
        {
          anyOf: [reference('Solicitud'), reference('Application')],
        },
      ),
      deprecated: true,
    },
  };
}

/** `debt_amount` becomes `DebtAmount`. */
function componentName({ name }: NamedField): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function valueSchema(field: NamedField): Schema {
  return {
    title: field.about.en,
    description: describeRule(field, 'en'),
    ...takes(field.rule),
    examples: [field.example],
  };
}

/** The schema of the values that a rule takes, null apart. */
function takes(rule: Rule): Schema {
  switch (rule.kind) {
    case 'text':
      return { type: 'string', pattern: `^\\s*${text(rule.max)}\\s*$` };
    case 'label':
      return { type: 'string', pattern: `^\\s*(?:${text(rule.max)})?\\s*$` };
    case 'phone':
      return {
        type: 'string',
        allOf: [{ pattern: `^\\s*(?:${text(rule.max)})?\\s*$` }, { pattern: PHONE_OR_BLANK }],
      };
    case 'currency':
      return { anyOf: [{ type: 'string', pattern: '^[A-Za-z]{3}$' }, { description: 'Counts as absent.' }] };
    case 'amount':
      return {
        anyOf: [
          { type: 'number', exclusiveMinimum: 0 },
          { type: 'string', pattern: AMOUNT },
        ],
      };
    case 'choice':
      return choice(rule);
    case 'consent':
      return { type: 'boolean' };
  }
}

/** A text that neither begins nor ends with white space. */
function text(max: number): string {
  return `[^\\s${CONTROL}](?:[^${CONTROL}]{0,${max - 2}}[^\\s${CONTROL}])?`;
}

/** A decimal number with at least one digit other than 0 before its exponent. */
const AMOUNT = '^\\s*(?:0*[1-9][0-9]*(?:\\.[0-9]+)?|0+\\.0*[1-9][0-9]*)(?:[eE][+-]?[0-9]+)?\\s*$';

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

function choice({ values, spanish, integers }: Rule & { kind: 'choice' }): Schema {
  const words = [...new Set([...values, ...Object.keys(spanish ?? {})])];
  return {
    anyOf: [
      { type: 'string', enum: words },
      { type: 'string', pattern: `^\\s*(?:${words.map(anyCase).join('|')})\\s*$` },
      ...(integers === true ? [{ type: 'integer', enum: values.map(Number) }] : []),
    ],
  };
}

function anyCase(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

const UNTOLD = [
  'What a schema cannot tell:',
  '- half of a surrogate pair in a text is refused, as control characters are;',
  '- an amount so large or so small that it is not a finite number > 0 is refused;',
  '- the length of `platform` counts after lower-casing, which makes a few letters longer;',
  "- a phone without country code that begins with 0 is taken only where it is a valid number of the key's country;",
  '- `POST /PRO` refuses phones that begin with +990, which are kept for the sandbox;',
  '- an open application with the same phone, and the quota, refuse an application on `POST /PRO`.',
].join('\n');

/**
 * Exactly the registrable applications, under any mixture of names. An alias counts where the names before it are
 * absent.
 */
function applicationSchema(fields: readonly NamedField[]): Schema {
  return {
    title: 'An application',
    description: `null is the same as absent, and fields that are not listed are ignored. Names may be mixed; the English one wins, then the others in their order. An element that does not match is refused alone, with an entry in the answer: the rest of the batch goes on.\n\n${UNTOLD}`,
    type: 'object',
    properties: Object.fromEntries(
      fields.flatMap((field) => [
        [field.name, { anyOf: [reference(componentName(field)), ABSENT] }],
        ...field.names.slice(1).map((name) => [name, aliasOf(field, name)] as const),
      ]),
    ),
    allOf: fields.filter(({ rule }) => rule.kind !== 'currency').map(reading),
    examples: [exampleApplication(fields, 'en')],
  };
}

function aliasOf(field: NamedField, name: string): Schema {
  const description = `Read as \`${field.name}\` where the names before it are absent.`;
  return isLegacy(field, name) ? { description, deprecated: true } : { description };
}

/** The first of a field's names that is present has a value that the rule takes. */
function reading(field: NamedField): Schema {
  const { names, rule } = field;
  const value = reference(componentName(field));
  const absent = (before: readonly string[]) =>
    Object.fromEntries(before.map((name) => [name, ABSENT] as const));
  const branches: Schema[] = names.map((name, index) => ({
    required: [name],
    properties: { ...absent(names.slice(0, index)), [name]: value },
  }));
  return { anyOf: isRequired(rule) ? branches : [...branches, { properties: absent(names) }] };
}

/** The Spanish names alone, with types, for partners that still send them. */
function spanishSchema(fields: readonly NamedField[]): Schema {
  const legacy = fields.flatMap((field) =>
    field.names
      .filter((name) => isLegacy(field, name))
      .map((name) => [name, { anyOf: [reference(componentName(field)), ABSENT], deprecated: true }]),
  );
  return {
    title: 'Una solicitud',
    description: `\`Application\` with its Spanish names. ${fields
      .map((field) => `\`${nameIn(field, 'es')}\` is \`${field.name}\``)
      .join(', ')}.`,
    deprecated: true,
    allOf: [reference('Application')],
    properties: Object.fromEntries(legacy),
    examples: [exampleApplication(fields, 'es')],
  };
}

function batchSchema(root: string, others: Schema, items: Schema): Schema {
  return {
    type: 'object',
    required: [root],
    properties: { ...others, [root]: { type: 'array', minItems: 1, maxItems: MAX_APPLICATIONS, items } },
  };
}
