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
 * Format characters (bidi among them) and others that nobody sees, but for the joiner and the selector that emoji have.
 */
const HIDDEN = /[[\p{Cf}\p{Default_Ignorable_Code_Point}]--[\u200d\ufe0f]]/v;

/** True for a text with characters that hide text or change its direction, which no text of an operator needs. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}
