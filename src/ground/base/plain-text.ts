/**
 * Which texts the service takes: no control characters (D7), and no characters that hide text from a second reader.
 * Also makes any text safe to show in a terminal and to operators. Pure.
 */

const SPACE = 0x20;
const DELETE = 0x7f;
const LAST_CONTROL = 0x9f;

/** False for a text with control characters (such as NUL) or lone surrogates, which no text may hold (D7). */
export function isPlainText(text: string): boolean {
  // The loop takes a third of a pattern's time, and every application has four texts.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < SPACE || (unit >= DELETE && unit <= LAST_CONTROL)) return false;
  }
  return text.isWellFormed();
}

/**
 * Format characters (bidi among them), other invisible characters, line and paragraph breaks other than `\n`, and the
 * blank of Braille.
 */
export const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/v;
/** Emoji have joiners, selectors and tags within them; some keyboards add a selector behind one. */
export const EMOJI = /\p{RGI_Emoji}\ufe0f?/gv;

/** True for a text with characters that hide text or change its direction outside of an emoji. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text) && HIDDEN.test(text.replaceAll(EMOJI, ' '));
}

/**
 * The rule of every text that one person writes and another one reads, such as reasons, notes and names. Returns the
 * trimmed text; null if it is empty, has more than `most` characters (code points), or has control or hidden
 * characters, which could show a reader something else than what is stored. The text has one line; with `hasLines` it
 * may have several, ended by `\n`.
 */
export function readableText(text: string, most: number, { hasLines = false } = {}): string | null {
  const written = (hasLines ? text.replaceAll('\r\n', '\n') : text).trim();
  const lines = hasLines ? written.split('\n') : [written];
  const isReadable = lines.every((line) => isPlainText(line) && !hasHidden(line));
  return written === '' || [...written].length > most || !isReadable ? null : written;
}

// The second part: makes texts safe for terminals and for operators. Names, file contents, server answers and arguments
// can hold characters that move the cursor, hide text or turn its direction. Each of them is shown as JSON writes it,
// such as \u202e.

/** Controls, halves of characters, and what `HIDDEN` has. Line breaks stay. */
const UNSAFE = new RegExp(`[[[\\p{Cc}\\p{Cs}]--\\n]${HIDDEN.source}]`, 'v');
/** An emoji stays whole: it needs the hidden characters within it. */
const EMOJI_OR_UNSAFE = new RegExp(`(${EMOJI.source})|${UNSAFE.source}`, 'gv');

/**
 * The only places where emoji and unsafe characters can be. The search for emoji is limited to them, because its
 * pattern takes microseconds a character.
 */
const FOREIGN = /[#*0-9]?[\x80-\u{10ffff}]+|[\0-\x09\x0b-\x1f\x7f]+/gv;

/** The text with its unsafe characters as escapes. JSON that is escaped so keeps its meaning. */
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
