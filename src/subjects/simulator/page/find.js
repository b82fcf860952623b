/** The fields of the simulator's page that find phones, names and outcomes. */
import { isFound, phoneIn, plain } from './typed.js';

const field = document.getElementById('find');
const outcome = document.getElementById('outcome');
const typed = () => plain(field.value);

export function onFind(act) {
  field.addEventListener('input', act);
  outcome.addEventListener('change', act);
}

export function isFinding() {
  return typed() !== '' || outcome.value !== '';
}

/** The phone to ask the service for, which knows older messages, too; null for a name or too few digits. */
export function wantedPhone() {
  return phoneIn(typed());
}

/** The chats whose name or phone has what is typed, and whose last message tells the chosen outcome. */
export function foundChats(chats) {
  return typedChats(chats).filter(
    ({ messages }) => outcome.value === '' || messages.at(-1)?.type === outcome.value,
  );
}

function typedChats(chats) {
  const text = typed();
  // The service has found the phone already.
  if (text === '' || wantedPhone() !== null) return chats;
  return chats.filter((chat) => isFound(chat, text));
}
