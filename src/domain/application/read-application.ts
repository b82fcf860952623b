/**
 * Reads one element of a batch: normalises and validates it (contract, "Application input"; D5-D14, D38). Also has the
 * type of its outcome. Pure.
 */
import type { Country, Currency } from '../../ground/base/country-data.ts';
import { isPlainText } from '../../ground/base/plain-text.ts';
import type { OutcomeType } from '../message/notify.ts';
import { namedCurrency, normaliseCurrency } from '../money/currency.ts';
import type { Environment } from '../partner/credential.ts';
import { normalisePhone, type Phone } from '../phone/phone.ts';
import type { Decision } from '../scorecard/scorecard.ts';
import { type Application, FIELDS, type FieldName, type NamedField, type Rule } from './fields.ts';
import type { ApplicationId } from './ids.ts';
import { isReservedPhone } from './sandbox.ts';

/** The problem of a value. `contract/texts` has its text in each language. */
export type Problem = 'required' | 'amount' | 'choice' | 'consent' | 'phone' | 'text' | 'instant';

/** A fault of one field. `name` is the name that the client sent, or null if the field is absent (D14). */
export interface Fault {
  readonly field: FieldName;
  readonly name: string | null;
  readonly problem: Problem;
}

/** Why an element is not an application. */
export type NotRead =
  | { readonly kind: 'not_an_object' }
  | { readonly kind: 'invalid'; readonly idNumber: string | null; readonly faults: readonly Fault[] };

/** An element as read. */
export type Reading = { readonly kind: 'valid'; readonly application: Application } | NotRead;

/** The message that production would send (D32). */
export interface WouldNotify {
  readonly type: OutcomeType;
  readonly destination: Phone;
  readonly template: string;
}

/** The element was registered (in DEV: would be). */
export interface Registered {
  readonly kind: 'registered';
  readonly idNumber: string;
  readonly name: string;
  /** null in DEV. */
  readonly id: ApplicationId | null;
  readonly score: number;
  readonly decision: Decision;
  /** Only in DEV, and only if production would send a message. */
  readonly wouldNotify?: WouldNotify;
}

/** The element was not registered. */
export type NotRegistered =
  | NotRead
  | { readonly kind: 'duplicate'; readonly idNumber: string }
  | {
      readonly kind: 'over_quota';
      readonly idNumber: string;
      readonly remaining: number;
      readonly dailyCap: number;
    };

/** The outcome of an element of a batch (contract, "Result entry", "Error entry"). */
export type Outcome = Registered | NotRegistered;

/** The most code points of an ID number that an answer repeats: as many as a valid ID number may have (D13). */
const ECHOED_CODE_POINTS = 64;
const AMOUNT = /^\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * What a reader of values returns for a value that breaks its rule. A class of its own, because any text could be a
 * value.
 */
class FaultyValue {
  readonly problem: Problem;
  constructor(problem: Problem) {
    this.problem = problem;
  }
}
const FAULTY = {
  required: new FaultyValue('required'),
  amount: new FaultyValue('amount'),
  choice: new FaultyValue('choice'),
  consent: new FaultyValue('consent'),
  phone: new FaultyValue('phone'),
  text: new FaultyValue('text'),
  instant: new FaultyValue('instant'),
} as const satisfies Record<Problem, FaultyValue>;

/** An object with every field: to set existing members is quicker than to add them one by one. */
const BLANK = Object.fromEntries(FIELDS.map(({ name }) => [name, null]));

/**
 * Reads any JSON value as an application. Never throws. Finds every fault, in the contract's order. Only DEV allows the
 * phones that are reserved for the sandbox. The default environment is PRO.
 */
export function readApplication(
  element: unknown,
  fields: readonly NamedField[],
  partnerCountry: Country,
  environment: Environment = 'PRO',
): Reading {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return { kind: 'not_an_object' };
  }
  const source = element as Record<string, unknown>;
  const values: Record<string, unknown> = { ...BLANK };
  let faults: Fault[] | undefined;
  let phone: Phone | null = null;
  const named = () => namedCurrency(fieldValue(source, fields, 'currency'));
  for (const field of fields) {
    const value = valueInUse(source, field.names);
    const result = readValue(value, field.rule, phone, partnerCountry, environment, named);
    if (result instanceof FaultyValue) {
      faults ??= [];
      faults.push({ field: field.name, name: nameInUse(source, field.names), problem: result.problem });
      continue;
    }
    if (field.rule.kind === 'phone') phone = result as Phone | null;
    values[field.name] = result;
  }
  if (faults !== undefined) return { kind: 'invalid', idNumber: echoedIdNumber(source, fields), faults };
  return { kind: 'valid', application: values as Application };
}

/**
 * The value of one text, amount or choice in its normal form, or its problem. It is read as that of an application is,
 * and may not be blank.
 */
export function readFieldValue(
  name: FieldName,
  value: string,
): { readonly value: string | number } | { readonly problem: Problem } {
  const { rule } = FIELDS.find((field) => field.name === name)!;
  const read = readValue(value, rule, null, 'CO', 'PRO', () => null);
  if (read instanceof FaultyValue) return { problem: read.problem };
  if (typeof read !== 'string' && typeof read !== 'number') return { problem: 'required' };
  return { value: read };
}

/** The first value that is not absent and not null; null if there is none. */
function valueInUse(source: Readonly<Record<string, unknown>>, names: readonly string[]): unknown {
  for (const name of names) {
    const value = source[name];
    if (value !== undefined && value !== null) return value;
  }
  return null;
}

function nameInUse(source: Record<string, unknown>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = source[name];
    if (value !== undefined && value !== null) return name;
  }
  return null;
}

function readValue(
  value: unknown,
  rule: Rule,
  phone: Phone | null,
  partnerCountry: Country,
  environment: Environment,
  named: () => Currency | null,
): string | number | boolean | null | FaultyValue {
  switch (rule.kind) {
    case 'text':
      return readText(value, rule.max) ?? FAULTY.required;
    case 'label': {
      // Lower-cased first, because lower case turns a few letters into two, and the limit is about the stored text.
      const text = readText(typeof value === 'string' ? value.toLowerCase() : value, rule.max);
      return text ?? rule.fallback;
    }
    case 'phone': {
      const text = readText(value, rule.max);
      return typeof text === 'string' ? readPhone(text, partnerCountry, environment, named) : text;
    }
    case 'currency':
      return normaliseCurrency(value, phone, partnerCountry);
    case 'amount':
      return readAmount(value);
    case 'choice':
      return readChoice(value, rule);
    case 'consent':
      return typeof value === 'boolean' ? value : FAULTY.consent;
    case 'note':
      return readText(value, rule.max);
    case 'instant':
      return value === null ? null : readInstant(value, rule.max);
  }
}

/** The trimmed text; null if the value is absent or blank. */
function readText(value: unknown, max: number): string | null | FaultyValue {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') return FAULTY.text;
  const text = value.trim();
  if (text === '') return null;
  // A text has no more code points than UTF-16 units, so most texts need no count.
  if (text.length > max && (text.length > 2 * max || [...text].length > max)) return FAULTY.text;
  return isPlainText(text) ? text : FAULTY.text;
}

/**
 * A date, or a date and a time, in the extended form of ISO 8601, as it was sent; null if it is blank. The form alone
 * does not say whether a month has such a day, so a day that JavaScript moves to the next month is refused.
 */
const INSTANT =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/;

function readInstant(value: unknown, max: number): string | null | FaultyValue {
  if (typeof value !== 'string') return FAULTY.instant;
  const text = value.trim();
  if (text === '') return null;
  const day = text.length > max ? undefined : INSTANT.exec(text)?.[1];
  if (day === undefined) return FAULTY.instant;
  return new Date(day).toISOString().startsWith(day) ? text : FAULTY.instant;
}

function readPhone(
  text: string,
  partnerCountry: Country,
  environment: Environment,
  named: () => Currency | null,
): string | FaultyValue {
  const e164 = normalisePhone(text, partnerCountry, named);
  if (e164 === null || (environment === 'PRO' && isReservedPhone(e164))) return FAULTY.phone;
  return e164;
}

function readAmount(value: unknown): number | FaultyValue {
  let amount = value;
  if (typeof value === 'string') {
    const text = value.trim();
    if (!AMOUNT.test(text)) return FAULTY.amount;
    amount = Number(text);
  }
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0) return FAULTY.amount;
  return amount;
}

function readChoice(value: unknown, rule: Rule & { kind: 'choice' }): string | FaultyValue {
  let text: string;
  if (typeof value === 'string') text = value.trim().toLowerCase();
  else if (rule.integers === true && Number.isInteger(value)) text = String(value);
  else return FAULTY.choice;
  if (rule.values.includes(text)) return text;
  if (rule.spanish !== undefined && Object.hasOwn(rule.spanish, text)) return rule.spanish[text]!;
  return FAULTY.choice;
}

/** The name of a valid application, as an answer repeats it. */
export function echoedName(source: Readonly<Record<string, unknown>>, fields: readonly NamedField[]): string {
  return String(fieldValue(source, fields, 'name')).trim();
}

/**
 * The ID number that an answer repeats, so that its entry can be paired with the element (D13): the trimmed text, or
 * its first 64 code points if it is longer; a number as its text; else null. An integer of 2^53 or more is null: JSON
 * has rounded it, so its text would be another number than the one that was sent.
 */
export function echoedIdNumber(
  source: Readonly<Record<string, unknown>>,
  fields: readonly NamedField[],
): string | null {
  const value = fieldValue(source, fields, 'id_number');
  if (typeof value === 'string') return firstCodePoints(value.trim(), ECHOED_CODE_POINTS).toWellFormed();
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : null;
}

function fieldValue(
  source: Readonly<Record<string, unknown>>,
  fields: readonly NamedField[],
  wanted: FieldName,
): unknown {
  const field = fields.find(({ name }) => name === wanted);
  return field === undefined ? null : valueInUse(source, field.names);
}

/** Reads no more of the text than it may return: a text may have millions of characters. */
function firstCodePoints(text: string, most: number): string {
  if (text.length <= most) return text;
  return [...text.slice(0, 2 * most)].slice(0, most).join('');
}
