/**
 * The form in which words are compared: without accents, because not every keyboard has them, and without characters
 * that nobody sees. Signs such as < count.
 */
export function foldWord(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}
