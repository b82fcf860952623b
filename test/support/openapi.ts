/** Checks values against the OpenAPI document's own schemas (JSON Schema 2020-12). */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { NamedField, Rule } from '../../src/domain/application/fields.ts';
import type { Language } from '../../src/ground/base/language.ts';
import { nameIn } from '../../src/wire/contract/describe.ts';
import { wordIn } from '../../src/wire/contract/examples.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';

/** `check(pointer, value)` fails, with `what`, if the value does not match the schema at the pointer. */
export interface Checker {
  matches(pointer: string, value: unknown): boolean;
  check(pointer: string, value: unknown, what: string): void;
}

/** Pointers begin at the document's root. With `closed`, an answer may have only described members. */
export function checkerOf(document: Schema, { closed = false } = {}): Checker {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  // Any other keyword that JSON Schema does not have is a mistake in the document.
  for (const keyword of Object.keys(document)) ajv.addKeyword(keyword);
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  ajv.addSchema(closed ? closeAnswers(document) : document, 'document');
  const compile = (pointer: string) => ajv.compile({ $ref: `document#${pointer}` });
  const compiled = new Map<string, ReturnType<typeof compile>>();
  const validatorOf = (pointer: string) => {
    const known = compiled.get(pointer) ?? compile(pointer);
    compiled.set(pointer, known);
    return known;
  };
  return {
    matches: (pointer, value) => validatorOf(pointer)(value) as boolean,
    check(pointer, value, what) {
      const validate = validatorOf(pointer);
      assert.ok(validate(value), `${what}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`);
    },
  };
}

/** A request may hold unknown members. A schema that describes all its members is of an answer. */
function closeAnswers(document: Schema): Schema {
  return JSON.parse(JSON.stringify(document), (_key, value) =>
    value?.type === 'object' &&
    value.required !== undefined &&
    value.properties !== undefined &&
    !isBatch(value)
      ? { ...value, additionalProperties: false }
      : value,
  );
}

function isBatch({ properties }: { properties: object }): boolean {
  return 'applications' in properties || 'aplicaciones' in properties;
}

/**
 * An element with the names and spellings of the document of a language. So it says what the service takes besides
 * (D5, D8, D9, D12, contract "Application input"): other names, other capitals, white space, amounts as strings,
 * integers as choices, and null for absent.
 */
export function documentedForm(
  element: unknown,
  fields: readonly NamedField[],
  language: Language = 'en',
): unknown {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return element;
  const sent = element as Readonly<Record<string, unknown>>;
  const members = fields.flatMap((field) => {
    const value = field.names.map((name) => sent[name]).find((one) => one !== undefined && one !== null);
    const spelt = documentedSpelling(field.rule, value);
    return spelt === undefined ? [] : [[nameIn(field, language), wordIn(field, spelt, language)]];
  });
  return Object.fromEntries(members);
}

const DECIMAL = /^\d+(\.\d+)?([eE][+-]?\d+)?$/;

function documentedSpelling(rule: Rule, value: unknown): unknown {
  if (typeof value !== 'string') {
    if (rule.kind === 'currency') return undefined;
    const isInteger = rule.kind === 'choice' && rule.integers === true && Number.isInteger(value);
    return isInteger ? `${value}` : value;
  }
  if (rule.kind === 'phone') return value.trim();
  if (rule.kind === 'amount') return DECIMAL.test(value.trim()) ? Number(value) : value;
  if (rule.kind !== 'choice') return value;
  const word = value.trim().toLowerCase();
  return rule.spanish?.[word] ?? word;
}

/** Joins escaped parts to a JSON pointer. */
export function pointer(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
