/**
 * Checks a brand before it is stored, so that every stored brand can be sent (docs/brand.md, "What is refused"). Pure.
 */
import { flowFaults } from '../../../domain/conversation/check-flow.ts';
import { isOffering, TEMPLATE_KINDS, type TemplateKind } from '../../../domain/message/notify.ts';
import { MESSAGE_LANGUAGES } from '../../../domain/message/outgoing-message.ts';
import {
  type Brand,
  DEFAULT_PARAMETERS,
  effectiveBrand,
  MAX_VALUE_LENGTH,
  PLACEHOLDER_PATTERN,
  PLACEHOLDERS,
  type Placeholder,
  placeholdersOf,
  typesAndLanguages,
} from '../../../domain/partner/brand.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { hasHidden, isPlainText } from '../../../ground/base/plain-text.ts';

/** The channel's limits in characters. They are counted in UTF-16 units, which is the strictest reading. */
const MAX_TEXT_LENGTH = 1024;
const MAX_BUTTONS = 3;
const MAX_TITLE_LENGTH = 20;

const TEMPLATE_NAME = /^[a-z0-9_]{1,512}$/;
const TEMPLATE_LANGUAGE = /^[a-z]{2}(_[A-Z]{2})?$/;
const CONTRACT_NAME = /^[a-z0-9-]{1,64}$/;
const LONGEST_QUOTE = 40;
const HIDDEN_FAULT = 'has invisible characters or characters that change the direction of text';

/** Each kind of fault, for pages that tell it in their own words. */
export const BRAND_FAULTS = [
  ...['object', 'unknown_key', 'flag', 'line', 'hidden', 'empty', 'control', 'brace'],
  ...['placeholder', 'edge', 'long', 'titles', 'title', 'fixed_title', 'same_title'],
  ...['template_name', 'template_language', 'parameters', 'no_debt', 'differs', 'contract', 'conversation'],
] as const;

/** What is wrong at a place of a brand. */
export interface BrandFault {
  /** Leads to the value, such as `texts.offer.es`; empty: the whole brand. */
  readonly path: string;
  readonly code: (typeof BRAND_FAULTS)[number];
  /** The reason in English. */
  readonly text: string;
  /** What the reason is about: a placeholder, a number or a list; null: nothing but the place. */
  readonly about: string | null;
}

type Faults = Generator<BrandFault, void>;

function fault(
  path: string,
  code: BrandFault['code'],
  text: string,
  about: string | null = null,
): BrandFault {
  return { path, code, text, about };
}

/** A fault as `<path>: <reason>`. */
export function faultText({ path, text }: BrandFault): string {
  return `${path === '' ? 'the file' : path}: ${text}`;
}

/** The faults of a parsed brand file. A value without faults is a `Brand`. */
export function brandFaults(value: unknown): BrandFault[] {
  const faults = [...formFaults(value)];
  return faults.length > 0 ? faults : [...disagreements(value as Brand)];
}

function formFaults(value: unknown): Faults {
  const parts = {
    partner: partnerFaults,
    texts: (texts: unknown, at: string) =>
      eachTypeAndLanguage(texts, at, (text, path, type) => textFaults(text, path, type)),
    buttons: (buttons: unknown, at: string) =>
      eachTypeAndLanguage(buttons, at, (titles, path, type) => buttonFaults(titles, path, type)),
    templates: (templates: unknown, at: string) => eachKey(templates, at, TEMPLATE_KINDS, templateFaults),
    rejected_reasons: flagFaults,
    after_review: flagFaults,
    contract: contractFaults,
    conversation: conversationFaults,
  };
  const names = keysOf(parts);
  return eachKey(value, '', names, (part, path, name) => parts[name](part, path));
}

function* eachKey<K extends string>(
  value: unknown,
  path: string,
  keys: readonly K[],
  check: (value: unknown, path: string, key: K) => Faults,
): Faults {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return yield fault(path, 'object', 'must be a JSON object');
  }
  const unknown = Object.keys(value).find((key) => !(keys as readonly string[]).includes(key));
  if (unknown !== undefined) {
    const known = `unknown key "${shown(unknown)}"; the keys are ${keys.join(', ')}`;
    yield fault(path, 'unknown_key', known, shown(unknown));
  }
  for (const key of keys) {
    if (!Object.hasOwn(value, key)) continue;
    yield* check((value as Record<K, unknown>)[key], path === '' ? key : `${path}.${key}`, key);
  }
}

function eachTypeAndLanguage(
  value: unknown,
  path: string,
  check: (value: unknown, path: string, type: TemplateKind) => Faults,
): Faults {
  return eachKey(value, path, TEMPLATE_KINDS, (byLanguage, ofType, type) =>
    eachKey(byLanguage, ofType, MESSAGE_LANGUAGES, (item, ofLanguage) => check(item, ofLanguage, type)),
  );
}

function* partnerFaults(name: unknown, path: string): Faults {
  const limit = MAX_VALUE_LENGTH.partner;
  if (!isLine(name, limit)) yield fault(path, 'line', lineText(limit), `${limit}`);
  else if (hasHidden(name)) yield fault(path, 'hidden', HIDDEN_FAULT);
}

function* flagFaults(flag: unknown, path: string): Faults {
  if (typeof flag !== 'boolean') yield fault(path, 'flag', 'must be true or false');
}

function* conversationFaults(flow: unknown, path: string): Faults {
  if (flow === false) return;
  if (typeof flow !== 'object' || flow === null || Array.isArray(flow)) {
    return yield fault(path, 'conversation', 'must be false or a JSON object');
  }
  for (const found of flowFaults(flow, path)) {
    const end = found.indexOf(': ');
    yield fault(found.slice(0, end), 'conversation', found.slice(end + 2));
  }
}

function* contractFaults(name: unknown, path: string): Faults {
  if (typeof name !== 'string' || !CONTRACT_NAME.test(name)) {
    const rule = "must be the name of a contract's template, 1 to 64 lower-case letters, digits or -";
    yield fault(path, 'contract', rule);
  }
}

function* textFaults(text: unknown, path: string, type: TemplateKind): Faults {
  if (typeof text !== 'string' || text.trim() === '') return yield fault(path, 'empty', 'must be text');
  if (!isPlainText(text.replaceAll('\n', ' '))) {
    const rule = 'has control characters (only \\n is allowed) or half of a surrogate pair';
    yield fault(path, 'control', rule);
  }
  if (hasHidden(text)) yield fault(path, 'hidden', HIDDEN_FAULT);
  const allowed = DEFAULT_PARAMETERS[type];
  const wrong = [...placeholdersOf(text)].find((word) => !isOneOf(allowed, word));
  if (wrong !== undefined) {
    const reason = isOneOf(PLACEHOLDERS, wrong) ? `is not allowed in ${type}` : 'is unknown';
    const list = allowed.map((placeholder) => `{${placeholder}}`).join(', ');
    const rule = `the placeholder {${shown(wrong)}} ${reason}; the placeholders are ${list}`;
    yield fault(path, 'placeholder', rule, list);
  }
  if (/[{}]/.test(text.replace(PLACEHOLDER_PATTERN, ''))) yield fault(path, 'brace', 'has an unpaired brace');
  if (/^\s*\{|\}\s*$/.test(text)) yield fault(path, 'edge', 'may not begin or end with a placeholder');
  const length = filledLength(text);
  if (length > MAX_TEXT_LENGTH) {
    const rule = `can have ${length} characters with the longest values; the limit is ${MAX_TEXT_LENGTH}`;
    yield fault(path, 'long', rule, `${length}`);
  }
}

/** The length of a text with the longest value for every placeholder. */
function filledLength(text: string): number {
  return text.replace(PLACEHOLDER_PATTERN, (whole, word: string) =>
    isOneOf(PLACEHOLDERS, word) ? ' '.repeat(MAX_VALUE_LENGTH[word]) : whole,
  ).length;
}

function* buttonFaults(titles: unknown, path: string, type: TemplateKind): Faults {
  const least = isOffering(type) ? 1 : 0;
  if (!Array.isArray(titles) || titles.length < least || titles.length > MAX_BUTTONS) {
    return yield fault(path, 'titles', `must be a list of ${least} to ${MAX_BUTTONS} titles`, `${least}`);
  }
  for (const [index, title] of titles.entries()) {
    if (!isLine(title, MAX_TITLE_LENGTH)) {
      yield fault(`${path}[${index}]`, 'title', lineText(MAX_TITLE_LENGTH), `${MAX_TITLE_LENGTH}`);
    } else if (/[{}]/.test(title)) {
      yield fault(`${path}[${index}]`, 'fixed_title', 'titles are fixed and take no placeholders');
    } else if (hasHidden(title)) {
      yield fault(`${path}[${index}]`, 'hidden', HIDDEN_FAULT);
    }
  }
  const texts = titles.filter((title) => typeof title === 'string').map((title) => title.trim());
  if (new Set(texts).size < texts.length) yield fault(path, 'same_title', 'has the same title twice');
}

function templateFaults(template: unknown, path: string, type: TemplateKind): Faults {
  if (typeof template === 'string') return nameFaults(template, path);
  const parts = {
    name: nameFaults,
    languages: (languages: unknown, at: string) => eachKey(languages, at, MESSAGE_LANGUAGES, languageFaults),
    parameters: (parameters: unknown, at: string) => parameterFaults(parameters, at, type),
  };
  const names = keysOf(parts);
  return eachKey(template, path, names, (part, at, name) => parts[name](part, at));
}

function* nameFaults(name: unknown, path: string): Faults {
  if (typeof name !== 'string' || !TEMPLATE_NAME.test(name)) {
    yield fault(path, 'template_name', "must be a template's name, 1 to 512 lower-case letters, digits or _");
  }
}

function* languageFaults(code: unknown, path: string): Faults {
  if (typeof code !== 'string' || !TEMPLATE_LANGUAGE.test(code)) {
    const rule = "must be a template's language code, such as es, es_CO or pt_BR";
    yield fault(path, 'template_language', rule);
  }
}

function* parameterFaults(parameters: unknown, path: string, type: TemplateKind): Faults {
  const allowed: readonly unknown[] = DEFAULT_PARAMETERS[type];
  const fits =
    Array.isArray(parameters) &&
    parameters.every((parameter) => allowed.includes(parameter)) &&
    new Set(parameters).size === parameters.length;
  const list = allowed.join(', ');
  if (!fits) yield fault(path, 'parameters', `must be a list of ${list}, each at most once`, list);
  else if (isOffering(type) && !parameters.includes('debt')) {
    yield fault(path, 'no_debt', `must have debt, because every ${type} message carries the balance`);
  }
}

/**
 * Finds texts whose placeholders differ from the parameters of their template, defaults included. The text repeats the
 * template, and the channel refuses a message whose number of parameters differs from the approved template.
 */
function* disagreements(brand: Brand): Faults {
  const { texts, templates } = effectiveBrand(brand, '');
  for (const [type, language] of typesAndLanguages()) {
    const said = placeholdersOf(texts[type][language]);
    const { parameters } = templates[type];
    if (said.size === parameters.length && parameters.every((parameter) => said.has(parameter))) continue;
    const which = brand.texts?.[type]?.[language] === undefined ? 'the default text' : 'the text';
    const rule =
      `${which} has ${listOf([...said])}, but the parameters of the template ` +
      `(templates.${type}.parameters) are ${listOf(parameters)}: they must be the same`;
    yield fault(`texts.${type}.${language}`, 'differs', rule, parameters.join(', '));
  }
}

function lineText(limit: number): string {
  return `must be text of 1 to ${limit} characters in one line`;
}

function isLine(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= maxLength && isPlainText(value);
}

function isOneOf(placeholders: readonly Placeholder[], word: string): word is Placeholder {
  return (placeholders as readonly string[]).includes(word);
}

function listOf(words: readonly string[]): string {
  return words.length === 0 ? 'none' : words.join(', ');
}

/** A part of the file, safe for a terminal. */
function shown(text: string): string {
  const start = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}...` : text;
  return start.replace(/[\p{Cc}\p{Cs}]/gu, '?');
}
