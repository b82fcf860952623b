const SPACE = 0x20;
const DELETE = 0x7f;
const LAST_CONTROL = 0x9f;

/** False for text with control characters (NUL among them) or lone surrogates, which no text may hold (D7). */
export function isPlainText(text: string): boolean {
  // A third of the time of a pattern, and every application has four texts.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < SPACE || (unit >= DELETE && unit <= LAST_CONTROL)) return false;
  }
  return text.isWellFormed();
}
