/** Which passwords operators may choose: long ones, without rules about characters (NIST SP 800-63B, section 3.1.1). */

export const SHORTEST = 12;
export const LONGEST = 128;
export const FEWEST_DIFFERENT = 5;

/** What is wrong with a password, for the person who chose it; null: nothing. Lengths count code points. */
export function faultOfPassword(password: string, login: string): string | null {
  const characters = [...password.normalize('NFC')];
  if (characters.length < SHORTEST) return `the password must have ${SHORTEST} characters or more`;
  if (characters.length > LONGEST) return `the password must have ${LONGEST} characters or fewer`;
  if (new Set(characters).size < FEWEST_DIFFERENT) {
    return `the password must have ${FEWEST_DIFFERENT} different characters or more`;
  }
  if (password.toLowerCase().includes(login)) return 'the password must not contain the login';
  return null;
}
