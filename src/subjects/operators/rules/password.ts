/**
 * Which passwords operators may choose: long ones that nobody tries, without rules about kinds of characters (NIST SP
 * 800-63B, section 3.1.1; docs/operators.md, "Passwords"). Pure: the console's page checks with this file too.
 */

export const SHORTEST = 12;
export const LONGEST = 128;
const SHORTEST_WORD = 3;
/** A shorter login is part of many words that have nothing to do with it, as `ana` is of `banana`. */
const SHORTEST_IN_WORDS = 4;

/** What is wrong with a password. */
export type PasswordFault = 'short' | 'long' | 'login' | 'known';

/**
 * Whether a password is known, for `faultOfPassword`. The page loads the list of words only where somebody chooses a
 * password, so the check is a parameter.
 */
export type IsKnown = (password: string, own: readonly string[]) => boolean;

/**
 * What is wrong with a password; null: nothing. `login` is empty if nobody knows it. Lengths are counted in code
 * points.
 */
export function faultOfPassword(password: string, login: string, isKnown: IsKnown): PasswordFault | null {
  const characters = [...password.normalize('NFC')].length;
  if (characters < SHORTEST) return 'short';
  if (characters > LONGEST) return 'long';
  if (login !== '' && hasLogin(password, login)) return 'login';
  const parts = login.split(/[^a-z\d]+/).filter((part) => part.length >= SHORTEST_WORD);
  return isKnown(password, ['ventanilla', ...parts]) ? 'known' : null;
}

/** Whether the password contains the login. A short login counts only as a word of its own. */
function hasLogin(password: string, login: string): boolean {
  return login.length < SHORTEST_IN_WORDS
    ? wordsOf(password).includes(wordsOf(login))
    : password.toLowerCase().includes(login);
}

/** The words in lower case, with a space before and after each one. */
function wordsOf(text: string): string {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
}

/** The fault for the person who chose the password. */
export function faultText(fault: PasswordFault, login: string): string {
  switch (fault) {
    case 'short':
      return `the password must have ${SHORTEST} characters or more`;
    case 'long':
      return `the password must have ${LONGEST} characters or fewer`;
    case 'login':
      return `the password must not contain your login, ${login}`;
    case 'known':
      return 'the password is a known one, or easy to guess: choose other words, such as four that have nothing to do with each other';
  }
}
