/** The field of the simulator's page that finds phones and names. */

/** The digits of the shortest phone. */
const MIN_DIGITS = 7;
const field = document.getElementById('find');
const typed = () => field.value.trim().toLowerCase();
const digitsOf = (text) => text.replace(/\D/g, '');

export function onFind(act) {
  field.addEventListener('input', act);
}

export function isFinding() {
  return typed() !== '';
}

/** The phone to ask the service for, which knows older messages, too; null for a name or too few digits. */
export function wantedPhone() {
  const text = typed();
  return /^[\d\s+().-]+$/.test(text) && digitsOf(text).length >= MIN_DIGITS ? text : null;
}

/** The chats whose name or phone has what is typed. */
export function foundChats(chats) {
  const text = typed();
  // The service has found the phone already.
  if (text === '' || wantedPhone() !== null) return chats;
  const digits = /\p{L}/u.test(text) ? '' : digitsOf(text);
  return chats.filter(
    ({ name, phone }) => name.toLowerCase().includes(text) || (digits !== '' && phone.includes(digits)),
  );
}
