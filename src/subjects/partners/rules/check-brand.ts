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

type Faults = Generator<string, void>;

/**
 * The faults of a parsed brand file, each as `<path>: <reason>`, where the path leads to the value. A value without
 * faults is a `Brand`.
 */
export function brandFaults(value: unknown): string[] {
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
  const here = path === '' ? 'the file' : path;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return yield `${here}: must be a JSON object`;
  }
  const unknown = Object.keys(value).find((key) => !(keys as readonly string[]).includes(key));
  if (unknown !== undefined) {
    yield `${here}: unknown key "${shown(unknown)}"; the keys are ${keys.join(', ')}`;
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
  if (!isLine(name, limit)) yield `${path}: must be text of 1 to ${limit} characters in one line`;
  else if (hasHidden(name)) yield `${path}: ${HIDDEN_FAULT}`;
}

function* flagFaults(flag: unknown, path: string): Faults {
  if (typeof flag !== 'boolean') yield `${path}: must be true or false`;
}

function* conversationFaults(flow: unknown, path: string): Faults {
  if (flow === false) return;
  if (typeof flow !== 'object' || flow === null || Array.isArray(flow)) {
    return yield `${path}: must be false or a JSON object`;
  }
  yield* flowFaults(flow, path);
}

function* contractFaults(name: unknown, path: string): Faults {
  if (typeof name !== 'string' || !CONTRACT_NAME.test(name)) {
    yield `${path}: must be the name of a contract's template, 1 to 64 lower-case letters, digits or -`;
  }
}

function* textFaults(text: unknown, path: string, type: TemplateKind): Faults {
  if (typeof text !== 'string' || text.trim() === '') return yield `${path}: must be text`;
  if (!isPlainText(text.replaceAll('\n', ' '))) {
    yield `${path}: has control characters (only \\n is allowed) or half of a surrogate pair`;
  }
  if (hasHidden(text)) yield `${path}: ${HIDDEN_FAULT}`;
  const allowed = DEFAULT_PARAMETERS[type];
  const wrong = [...placeholdersOf(text)].find((word) => !isOneOf(allowed, word));
  if (wrong !== undefined) {
    const reason = isOneOf(PLACEHOLDERS, wrong) ? `is not allowed in ${type}` : 'is unknown';
    const list = allowed.map((placeholder) => `{${placeholder}}`).join(', ');
    yield `${path}: the placeholder {${shown(wrong)}} ${reason}; the placeholders are ${list}`;
  }
  if (/[{}]/.test(text.replace(PLACEHOLDER_PATTERN, ''))) yield `${path}: has an unpaired brace`;
  if (/^\s*\{|\}\s*$/.test(text)) yield `${path}: may not begin or end with a placeholder`;
  const length = filledLength(text);
  if (length > MAX_TEXT_LENGTH) {
    yield `${path}: can have ${length} characters with the longest values; the limit is ${MAX_TEXT_LENGTH}`;
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
    return yield `${path}: must be a list of ${least} to ${MAX_BUTTONS} titles`;
  }
  for (const [index, title] of titles.entries()) {
    if (!isLine(title, MAX_TITLE_LENGTH)) {
      yield `${path}[${index}]: must be text of 1 to ${MAX_TITLE_LENGTH} characters in one line`;
    } else if (/[{}]/.test(title)) {
      yield `${path}[${index}]: titles are fixed and take no placeholders`;
    } else if (hasHidden(title)) {
      yield `${path}[${index}]: ${HIDDEN_FAULT}`;
    }
  }
  const texts = titles.filter((title) => typeof title === 'string').map((title) => title.trim());
  if (new Set(texts).size < texts.length) yield `${path}: has the same title twice`;
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
    yield `${path}: must be a template's name, 1 to 512 lower-case letters, digits or _`;
  }
}

function* languageFaults(code: unknown, path: string): Faults {
  if (typeof code !== 'string' || !TEMPLATE_LANGUAGE.test(code)) {
    yield `${path}: must be a template's language code, such as es, es_CO or pt_BR`;
  }
}

function* parameterFaults(parameters: unknown, path: string, type: TemplateKind): Faults {
  const allowed: readonly unknown[] = DEFAULT_PARAMETERS[type];
  const fits =
    Array.isArray(parameters) &&
    parameters.every((parameter) => allowed.includes(parameter)) &&
    new Set(parameters).size === parameters.length;
  if (!fits) yield `${path}: must be a list of ${allowed.join(', ')}, each at most once`;
  else if (isOffering(type) && !parameters.includes('debt')) {
    yield `${path}: must have debt, because every ${type} message carries the balance`;
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
    yield `texts.${type}.${language}: ${which} has ${listOf([...said])}, but the parameters of the template ` +
      `(templates.${type}.parameters) are ${listOf(parameters)}: they must be the same`;
  }
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
