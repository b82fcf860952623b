/** The name that an operator signs in with. */

/** The rule of `readLogin`, for error texts. */
export const LOGIN_RULE =
  'the login must be 2 to 64 letters, digits, dots, hyphens, underscores, plus or at signs, and begin with a letter';

/**
 * A login as it is stored, if it is one: full-width letters are those of ASCII, and what a copied text has without
 * showing it is gone. A letter of another script that looks the same stays another one, which no login has.
 */
export function normalLogin(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .toLowerCase();
}

/** The login in lower case; null where the text breaks the rule. */
export function readLogin(text: string): string | null {
  const login = normalLogin(text);
  return /^[a-z][a-z0-9._+@-]{1,63}$/.test(login) ? login : null;
}
