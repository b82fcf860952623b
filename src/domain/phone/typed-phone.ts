/** A phone as a person types or pastes it. Partners send phones by D11 alone: what is cleaned here is refused there. */

/** `ext. 12`, `anexo 12`, `x12`, `;ext=12`, `#12`: the words of the countries that the service knows. */
const EXTENSION =
  /[\s,;(]{0,8}(?:ext(?:ensi[oó]n|ens[aã]o)?|anexo|interno|int|ramal|x|#)[.:=\s]{0,8}\d{1,6}\s{0,8}\)?$/iu;

/**
 * The text in the characters that D11 reads: full-width digits, dashes and spaces of each kind are those of ASCII.
 * Marks of direction that come with a copied contact are gone, and so are `tel:` and an extension: no phone is stored
 * with one.
 */
export function typedPhone(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/^tel:\s*/i, '')
    .replace(EXTENSION, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\s+/gu, ' ')
    .trim();
}
