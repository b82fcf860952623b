/**
 * Makes texts safe for a terminal. Names, file contents, server answers and arguments can hold characters that move the
 * cursor, hide text or turn its direction. Each such character is shown as JSON writes it, such as \u202e.
 */

/**
 * Controls, invisible format characters (bidi among them), line separators and halves of characters. The two blocks of
 * format characters count whole, because the code points that are free in them are invisible too. Line breaks stay. So
 * do the two joiners, which names and emoji need.
 */
const UNSAFE = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2060-\u206f\u{e0000}-\u{e007f}]--[\n\u200c\u200d]]/gv;

/** The text with its unsafe characters as escapes. JSON keeps its meaning. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escaped);
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
