/** No regular expression of the program takes long for a text from outside, whatever the text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, Script } from 'node:vm';
import { hostileTexts } from './support/hostile-texts.ts';
import { builtDuring, literalsOf, load, type Pattern } from './support/patterns.ts';
import { readProgram } from './support/sources.ts';

const SCREENED_CHARACTERS = 2_000;
const CHARACTERS = 256 * 1024;
/** So many texts of each expression, those that took longest, are tried at full length. */
const SLOWEST = 6;
/** An expression in linear time takes milliseconds; one in quadratic time takes a minute. */
const MAX_MS = 10_000;

/** Folders and files whose expressions see no text from outside, or a short one, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'app/config/': "the operator's own settings",
  'packages/submit/src/commands/submit-terminal.ts': 'the digits of a number',
  'subjects/income/settings.ts': "the operator's own settings",
  'domain/message/opt-out-doubts.ts': 'a text of at most 1,000 characters',
  'domain/message/opt-out-words.ts': 'a text of at most 120 characters',
  'domain/loan/read-debts.ts': 'a text of at most 4,000 characters',
  'seal/written-keys.ts': "the operator's own keys",
  'subjects/documents/rules/': 'lines of at most 500 characters',
  'listeners/docs-page/parts.ts': 'the examples of the documentation',
  'ground/postgres/await-server.ts': "the operator's own URL",
  'ground/schema/functions.ts': "the program's own SQL",
};
/** Entries begin to work where they are loaded, and pages run in a browser. Their literals are tried all the same. */
const NOT_LOADED =
  /^(?:start\.js|run\.js|main\.ts|packages\/submit\/src\/main\.ts|subjects\/documents\/reader\/child\.ts)$|\.js$/;
/** Expressions for phones are built for each country on first use. */
const COUNTRIES = ['CO', 'MX', 'PE', 'AR', 'CL', 'BR', 'US', 'ES', 'DE', 'IT'] as const;

const context = createContext({ pattern: /x/, texts: [''], now: () => performance.now() });
// A call with a limit costs a thread, so all texts of an expression share one.
const script = new Script(`texts.map((text) => {
  const start = now();
  if (pattern.global) text.replace(pattern, ''); else pattern.test(text);
  return now() - start;
})`);

/** The milliseconds that an expression takes for each text. Throws where all together take longer than `maxMs`. */
function timesOf(pattern: RegExp, texts: readonly string[], maxMs = MAX_MS): number[] {
  Object.assign(context, { pattern, texts });
  // A joined text is written out before it is read.
  for (const text of texts) text.charCodeAt(text.length - 1);
  return script.runInContext(context, { timeout: maxMs });
}

/** Only a part that repeats without a bound can take more than linear time. */
function repeats({ source }: RegExp): boolean {
  return /[*+]|\{\d+,\}/.test(source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, 'x'));
}

/** A text for which the expression takes more than linear time; null where none is found. */
function slowText(pattern: RegExp, maxMs = MAX_MS): string | null {
  const texts = hostileTexts(pattern);
  const isSlow = (text: string) => {
    try {
      timesOf(pattern, [text], maxMs);
      return false;
    } catch {
      return true;
    }
  };
  let times: number[];
  try {
    times = timesOf(
      pattern,
      texts.map((text) => text(SCREENED_CHARACTERS)),
      maxMs,
    );
  } catch {
    const slow = texts.find((text) => isSlow(text(SCREENED_CHARACTERS)));
    return slow?.(16) ?? 'all texts together';
  }
  const slowest = texts
    .map((text, index) => ({ text, time: times[index] as number }))
    .sort((a, b) => b.time - a.time)
    .slice(0, SLOWEST);
  return slowest.find(({ text }) => isSlow(text(CHARACTERS)))?.text(16) ?? null;
}

const SOURCES = readProgram();

async function allPatterns(): Promise<Pattern[]> {
  const built = await builtDuring(async () => {
    for (const { path } of SOURCES) if (!NOT_LOADED.test(path)) await load(path);
    const phones = await import('../src/domain/phone/phone.ts');
    for (const country of COUNTRIES) phones.normalisePhone('3005550101', country);
  });
  const all = [...SOURCES.flatMap(literalsOf), ...built];
  return [...new Map(all.map((one) => [String(one.pattern), one])).values()];
}

test('every regular expression that sees a text from outside takes a quarter of a mebibyte of hostile text in linear time', async () => {
  const patterns = (await allPatterns()).filter(({ pattern }) => repeats(pattern));
  assert.ok(patterns.length > 50, `${patterns.length} were found`);
  const isExempt = ({ place }: Pattern) => Object.keys(EXEMPT).some((path) => place.startsWith(path));
  const slow = patterns
    .filter((one) => !isExempt(one))
    .flatMap(({ place, pattern }) => {
      const text = slowText(pattern);
      return text === null ? [] : [`${place} ${pattern}: ${JSON.stringify(text)} and longer`];
    });
  assert.deepEqual(slow, []);
});

test('an expression in quadratic time is found', () => {
  assert.notEqual(slowText(/^[a-f:]*:[a-f:]*$/, 100), null);
  assert.notEqual(slowText(/^(?:a|a)*b$/, 100), null, 'one in exponential time too');
});
