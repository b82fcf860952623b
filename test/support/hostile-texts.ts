/** Texts that make a regular expression slow, where any can: each repeats a part of a text that it matches. */
import fc from 'fast-check';

const SAMPLES = 3;
/** A longer sample is cut, because every part of it is repeated. */
const SAMPLE_CHARACTERS = 20;
const PART_CHARACTERS = 4;
/** The second one fits no expression. */
const ENDS = ['', '\u0000!\n\u{10ffff}'];
const SIMPLE = ['a', '0', ' ', '\u00a0', '\n', 'ab', '0.', '<!--', 'á', '"', '\\'];

/** Functions that make a text of so many characters, or a few more. */
export function hostileTexts(pattern: RegExp): ((characters: number) => string)[] {
  const texts: ((characters: number) => string)[] = [];
  for (const sample of samplesOf(pattern)) {
    for (let start = 0; start < sample.length; start += 1) {
      for (let end = start + 1; end <= Math.min(sample.length, start + PART_CHARACTERS); end += 1) {
        const [before, part, after] = [sample.slice(0, start), sample.slice(start, end), sample.slice(end)];
        for (const last of ENDS)
          texts.push(
            (characters) => before + part.repeat(Math.ceil(characters / part.length)) + after + last,
          );
      }
    }
  }
  return texts;
}

/** Texts that the expression matches, the characters in it, and simple texts. */
function samplesOf(pattern: RegExp): Set<string> {
  const ownCharacters = new Set(pattern.source.replace(/\\[pP]\{[^}]*\}|\\[a-zA-Z]|[\^$()[\]{}|]/g, ''));
  const samples = [...SIMPLE, [...ownCharacters].join(''), ...matchesOf(pattern)];
  return new Set(samples.map((sample) => sample.slice(0, SAMPLE_CHARACTERS)));
}

function matchesOf({ source, unicode }: RegExp): string[] {
  try {
    // The library looks in ASCII alone for a character of a negated class, and for ever where the class excludes ASCII.
    const known = source.replace(/\[\^(?:\\0|\\x00)-\\x7f(?:\\.|[^\]\\])*\]/g, '\u20ac');
    const matching = fc.stringMatching(new RegExp(known, unicode ? 'u' : ''));
    return fc.sample(matching, { numRuns: SAMPLES, seed: 1 });
  } catch {
    // The library knows no back references and no operations on sets.
    return [];
  }
}
