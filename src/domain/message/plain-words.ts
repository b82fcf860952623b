/** One spelling of the words that people write. Pure. */

/**
 * The text in small letters and digits, with one space between words. Full-width and other forms of letters become
 * plain. Accents, emoji, punctuation and invisible characters are removed. A repeated letter (BAJAAA) becomes one, and
 * a word in single letters (B A J A) is joined. Many people write `no quiero +` for `no quiero más`.
 */
export function plainWords(text: string): string {
  const words = text
    .normalize('NFKC')
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}]+/gu, '')
    .toLowerCase()
    .replace(/\b(nao|no|n|quiero|quero)\s*\+/u, '$1 mas ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(\p{L})\1{2,}/gu, '$1')
    .trim();
  return /^\p{L}( \p{L}){2,}$/u.test(words) ? words.replaceAll(' ', '') : words;
}
