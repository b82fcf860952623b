/** What is typed into the field that finds phones and names. */

/** The digits of the shortest phone. */
const MIN_DIGITS = 7;

/** A text for comparison: without case, accents and what nobody sees; full-width characters are those of ASCII. */
export function plain(text) {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();
}

export function digitsOf(text) {
  return text.replace(/\D/g, '');
}

/** The phone that a plain text is, with an extension perhaps; null for a name or too few digits. */
export function phoneIn(text) {
  return /^[+( ]*\d/.test(text) && digitsOf(text).length >= MIN_DIGITS ? text : null;
}

/** Whether a chat's name or phone has a plain text in it. */
export function isFound({ name, phone }, text) {
  const digits = /\p{L}/u.test(text) ? '' : digitsOf(text);
  return plain(name ?? '').includes(text) || (digits !== '' && phone.includes(digits));
}
