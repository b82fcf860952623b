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
 * Format characters (bidi among them), others that nobody sees, lines and paragraphs by other characters than `\n`, and
 * the blank of Braille.
 */
export const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/v;
/** Emoji have joiners, selectors and tags within them; some keyboards add a selector behind one. */
export const EMOJI = /\p{RGI_Emoji}\ufe0f?/gv;

/** True for a text with characters that hide text or change its direction outside of an emoji. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text) && HIDDEN.test(text.replaceAll(EMOJI, ' '));
}

/**
 * The rule of every text that somebody writes and a second person reads, such as reasons, notes and names: the trimmed
 * text; null where it is empty, has more than `most` characters (code points), or has control or hidden characters,
 * which could show a reader something else than what is stored. It has one line, or with `hasLines` any number of them,
 * ended by `\n`.
 */
export function readableText(text: string, most: number, { hasLines = false } = {}): string | null {
  const written = (hasLines ? text.replaceAll('\r\n', '\n') : text).trim();
  const lines = hasLines ? written.split('\n') : [written];
  const isReadable = lines.every((line) => isPlainText(line) && !hasHidden(line));
  return written === '' || [...written].length > most || !isReadable ? null : written;
}
