const CONTROL_OR_LONE_SURROGATE = /[\p{Cc}\p{Cs}]/u;

/** False for text with control characters (NUL among them) or lone surrogates, which no text may hold (D7). */
export function isPlainText(text: string): boolean {
  return !CONTROL_OR_LONE_SURROGATE.test(text);
}
