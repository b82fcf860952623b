/** The name that somebody signs in with: its rule, its normal form, and how it is stored. Pure. */
import type { Whose } from '../../../domain/operator/session.ts';

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

/** Stands before the login of a partner's account. No login has a slash, so it is never that of an operator. */
export const PARTNER_LOGIN = 'partner/';

/** A login as the store has it, and as tries are counted: the same login of an operator and at a partner are two. */
export function storedLogin(whose: Whose, login: string): string {
  return whose === 'partner' ? PARTNER_LOGIN + login : login;
}
