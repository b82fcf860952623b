/** The name that an operator signs in with: its rule and its normal form. Pure. */

/** The rule of `readLogin`, for error texts. */
export const LOGIN_RULE =
  'the login must be 2 to 64 letters, digits, dots, hyphens, underscores, plus or at signs, and begin with a letter';

/**
 * The text in the form in which logins are stored. Full-width letters become those of ASCII, and characters that a
 * copied text has but does not show are dropped. A letter of another script that looks the same stays as it is, so the
 * text is no login.
 */
export function normalLogin(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .toLowerCase();
}

/** The login in lower case; null if the text breaks the rule. */
export function readLogin(text: string): string | null {
  const login = normalLogin(text);
  return /^[a-z][a-z0-9._+@-]{1,63}$/.test(login) ? login : null;
}
