/**
 * Checks the flow of a brand before it is stored, so that the channel can send all of its texts (docs/conversation.md,
 * "The flow of a brand"). Pure.
 */
import { Type } from 'typebox';
import Value from 'typebox/value';
import { hasHidden, isPlainText } from '../../ground/base/plain-text.ts';
import { asksToStop } from '../message/opt-out-words.ts';
import { DEFAULT_FLOW } from './default-flow.ts';
import {
  type FlowChanges,
  flowWith,
  LANGUAGES,
  LONGEST_VALUE,
  MAX_REPLY_LENGTH,
  missingValueOf,
  QUESTIONS,
  TEXTS,
  type TextKey,
  type Value as TextValue,
} from './flow.ts';
import { CHOICES, type Choice } from './input.ts';

/**
 * Short enough that a reply has room for a sentence before a question. A question is checked together with its hint.
 */
const MAX_TEXT_LENGTH = 890;
const MAX_TITLE_LENGTH = 20;
const PLACEHOLDER = /\{([a-z_]+)\}/g;

const closed = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Partial(Type.Object(properties), { additionalProperties: false });
const ofEach = <K extends string>(keys: readonly K[]) =>
  closed(Object.fromEntries(keys.map((key) => [key, Type.String({ minLength: 1 })])));
const byLanguage = <K extends string>(keys: readonly K[]) =>
  closed(Object.fromEntries(LANGUAGES.map((language) => [language, ofEach(keys)])));

const FORM = closed({
  texts: byLanguage(Object.keys(TEXTS)),
  buttons: byLanguage(CHOICES),
  steps: closed({ earnings: Type.Boolean(), debts: Type.Boolean(), connect: Type.Boolean() }),
  reminders: closed({
    before_window_ends_hours: Type.Number({ minimum: 0, maximum: 23 }),
    template_after_hours: Type.Number({ minimum: 0, maximum: 24 * 30 }),
  }),
  limits: closed({
    expire_after_hours: Type.Number({ minimum: 1, maximum: 24 * 90 }),
    files: Type.Integer({ minimum: 1, maximum: 50 }),
  }),
});

/**
 * The faults of a brand's flow, each as `<path>: <reason>`, where the path begins with `path`. A value without faults
 * is a `FlowChanges`.
 */
export function flowFaults(value: unknown, path: string): string[] {
  const form = [...Value.Errors(FORM, value)].map((fault) => formFault(fault, path));
  return form.length > 0 ? [...new Set(form)] : [...contentFaults(value as FlowChanges, path)];
}

/** TypeBox says "schema is false" of a key that the form does not have. */
function formFault(
  { instancePath, message }: { instancePath: string; message: string },
  path: string,
): string {
  const keys = instancePath.split('/').slice(1);
  if (message !== 'schema is false') return `${[path, ...keys].join('.')}: ${message}`;
  const unknown = (keys.at(-1) ?? '').slice(0, 40).replace(/[\p{Cc}\p{Cs}]/gu, '?');
  return `${[path, ...keys.slice(0, -1)].join('.')}: unknown key "${unknown}"`;
}

function* contentFaults(changes: FlowChanges, path: string): Generator<string, void> {
  for (const language of LANGUAGES) {
    for (const [key, text] of Object.entries(changes.texts?.[language] ?? {})) {
      for (const reason of textFaults(key as TextKey, text))
        yield `${path}.texts.${language}.${key}: ${reason}`;
    }
    for (const [choice, title] of Object.entries(changes.buttons?.[language] ?? {})) {
      for (const reason of titleFaults(choice as Choice, title))
        yield `${path}.buttons.${language}.${choice}: ${reason}`;
    }
    const { texts, buttons } = flowWith(DEFAULT_FLOW, changes);
    yield* questionFaults(texts[language], `${path}.texts.${language}`);
    const titles = Object.values(buttons[language]).map((title) => title.trim());
    if (new Set(titles).size < titles.length) yield `${path}.buttons.${language}: has the same title twice`;
  }
}

function* textFaults(key: TextKey, text: string): Generator<string, void> {
  if (text.trim() === '') return yield 'must be text';
  if (!isPlainText(text.replaceAll('\n', ' '))) {
    yield 'has control characters (only \\n is allowed) or half of a surrogate pair';
  }
  if (hasHidden(text)) yield 'has invisible characters or characters that change the direction of text';
  const allowed: readonly TextValue[] = ['partner', ...TEXTS[key]];
  const wrong = Array.from(text.matchAll(PLACEHOLDER), ([, word]) => word as TextValue).find(
    (word) => !allowed.includes(word),
  );
  const list = allowed.map((word) => `{${word}}`).join(', ');
  if (wrong !== undefined)
    yield `the placeholder {${wrong}} is not allowed here; the placeholders are ${list}`;
  const missing = missingValueOf(key, text);
  if (missing !== undefined) yield `must have {${missing}}, because the person has to read it`;
  if (/[{}]/.test(text.replace(PLACEHOLDER, ''))) yield 'has an unpaired brace';
  const length = longest(text);
  if (length > MAX_TEXT_LENGTH) {
    yield `can have ${length} characters with the longest values; the limit is ${MAX_TEXT_LENGTH}`;
  }
}

/** Checks that the longest question has room for the hint under it. */
function* questionFaults(texts: Readonly<Record<TextKey, string>>, path: string): Generator<string, void> {
  const [key = QUESTIONS[0]] = QUESTIONS.toSorted((a, b) => longest(texts[b]) - longest(texts[a]));
  const length = longest(`${texts[key]}\n\n${texts.person_hint}`);
  if (length > MAX_REPLY_LENGTH) {
    yield `${path}.${key}: can have ${length} characters with person_hint and the longest values; the limit is ${MAX_REPLY_LENGTH}`;
  }
}

function longest(text: string): number {
  return text.replace(PLACEHOLDER, (whole, word: TextValue) =>
    word in LONGEST_VALUE ? ' '.repeat(LONGEST_VALUE[word]) : whole,
  ).length;
}

/** The refusals, and the wish for no more messages. A person who taps a refusal may also want no more messages. */
const REFUSING: readonly Choice[] = ['no', 'decline', 'stop'];

function* titleFaults(choice: Choice, title: string): Generator<string, void> {
  if (title.trim() === '' || title.length > MAX_TITLE_LENGTH || !isPlainText(title)) {
    yield `must be text of 1 to ${MAX_TITLE_LENGTH} characters in one line`;
  } else if (hasHidden(title)) {
    yield 'has invisible characters or characters that change the direction of text';
  } else if (asksToStop(title) && !REFUSING.includes(choice)) {
    yield 'asks for no more messages, so a tap would end the conversation';
  }
}
