/**
 * Makes texts safe for terminals and for operators. Names, file contents, server answers and arguments can hold
 * characters that move the cursor, hide text or turn its direction. Each of them is shown as JSON writes it, such as
 * \u202e. Pure.
 */
import { EMOJI, HIDDEN } from './plain-text.ts';

/** Controls, halves of characters, and what `HIDDEN` has. Line breaks stay. */
const UNSAFE = new RegExp(`[[[\\p{Cc}\\p{Cs}]--\\n]${HIDDEN.source}]`, 'v');
/** An emoji stays whole: it needs what is hidden within it. */
const EMOJI_OR_UNSAFE = new RegExp(`(${EMOJI.source})|${UNSAFE.source}`, 'gv');

/** Where these can be: emoji are looked for there alone, because their pattern takes microseconds a character. */
const FOREIGN = /[#*0-9]?[\x80-\u{10ffff}]+|[\0-\x09\x0b-\x1f\x7f]+/gv;

/** The text with its unsafe characters as escapes. JSON keeps its meaning. */
export function printable(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return text.replace(FOREIGN, (run) =>
    UNSAFE.test(run)
      ? run.replace(EMOJI_OR_UNSAFE, (found: string, emoji?: string) => emoji ?? escaped(found))
      : run,
  );
}

/** The printable text without line breaks: a foreign text inside a line must not begin a line of its own. */
export function inLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n');
}

function escaped(character: string): string {
  let units = '';
  for (let index = 0; index < character.length; index += 1) {
    units += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return units;
}
