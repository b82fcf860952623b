/** Makes the elements of the simulator's page. Texts become text nodes, never HTML. */

const STATUS_WORDS = { accepted: 'Accepted', sent: 'Sent', delivered: 'Delivered', read: 'Read' };
const OUTCOMES = { approved: 'Approved', offer: 'In review', rejected: 'Rejected' };
const HUES = 6;

/**
 * Gives `list` one element for each item, in order. An item keeps its element, so that the focus and the place of a
 * screen reader stay. `make` makes a new element; `update` brings an element up to date.
 */
export function sync(list, items, make, update) {
  const left = new Map(Array.from(list.children, (child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(item.key);
    const child = left.get(key) ?? make(item);
    left.delete(key);
    child.dataset.key = key;
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
  for (const child of left.values()) child.remove();
}

/** Makes an element with a class and children. Texts become text nodes. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Sets a text only where the text changes, because a screen reader reads it again. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Makes an entry of the list of phones. A click calls `open`. */
export function phoneEntry(open) {
  const button = element(
    'button',
    'phone',
    element('span', 'avatar'),
    element('span', 'phone-name'),
    element('span', 'phone-time'),
    element('span', 'phone-preview'),
    element('span', 'phone-mark'),
  );
  button.type = 'button';
  button.firstChild.setAttribute('aria-hidden', 'true');
  button.addEventListener('click', open);
  return element('li', '', button);
}

export function updatePhoneEntry(entry, chat, isOpen) {
  const button = entry.firstChild;
  const [avatar, name, time, preview, mark] = button.children;
  const last = chat.messages.at(-1);
  setAvatar(avatar, chat.name, chat.id);
  setText(name, chat.name);
  setText(time, timeOf(last.createdAt));
  setText(preview, previewOf(chat, last));
  setText(mark, isUnread(chat) ? 'New' : '');
  if (isOpen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

/** True where a message of the chat is not read. */
function isUnread(chat) {
  return chat.messages.some(({ status }) => status !== 'read');
}

/** The outcome that the last message tells, and what the applicant answered. */
function previewOf(chat, last) {
  const outcome = OUTCOMES[last.type];
  if (chat.suppressedAt !== null) return `${outcome} · wants no more messages`;
  if (last.interestedAt !== null) return `${outcome} · interested`;
  return outcome;
}

/** Shows initials on one of a few colours. A phone always gets the same colour. */
export function setAvatar(avatar, name, id) {
  const words = name.split(/\s+/).filter((word) => /^\p{L}/u.test(word));
  const initials = [words[0], words.length > 1 ? words[1] : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  );
  setText(avatar, initials.join('').toLocaleUpperCase());
  avatar.className = `avatar hue-${Number.parseInt(id.slice(0, 6), 16) % HUES}`;
}

/** Makes the bubble of a message. A tap calls `tap` with the place of the button. */
export function messageBubble({ message }, tap) {
  const buttons = message.buttons.map((_, index) => {
    const button = element('button', 'reply');
    button.type = 'button';
    button.addEventListener('click', () => tap(index));
    return button;
  });
  const meta = element('p', 'meta', element('span', ''), element('span', 'status'));
  const bubble = element('div', 'bubble theirs', element('p', 'text'), meta);
  return element('li', 'item', bubble, element('div', 'replies', ...buttons));
}

/** Brings a bubble up to date. `tapped` has the places of the tapped buttons. */
export function updateMessageBubble(item, { message }, tapped) {
  const [bubble, replies] = item.children;
  const [text, meta] = bubble.children;
  setText(text, message.text);
  setText(meta.firstChild, `Application ${message.applicationId} · ${timeOf(message.createdAt)}`);
  updateStatus(meta.lastChild, message.status);
  message.buttons.forEach(({ title, isInterest }, index) => {
    const button = replies.children[index];
    const done = tapped.has(index) || (isInterest && message.interestedAt !== null);
    setText(button, done ? `${title} ✓` : title);
    // Not `disabled`, because the button would lose the focus.
    button.setAttribute('aria-disabled', String(done));
  });
}

function updateStatus(target, status) {
  if (target.dataset.status === status) return;
  target.dataset.status = status;
  const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#icon-${status === 'read' ? 'delivered' : status}`);
  icon.setAttribute('class', 'ticks');
  icon.setAttribute('aria-hidden', 'true');
  icon.append(use);
  target.replaceChildren(STATUS_WORDS[status], icon);
}

/** Makes the bubble of the applicant's own text. */
export function ownBubble({ text, at }) {
  const meta = element('p', 'meta', timeOf(at));
  return element('li', 'item mine', element('div', 'bubble', element('p', 'text', text), meta));
}

/** Makes a note in the middle of the chat. */
export function note({ text }) {
  return element('li', 'item note', text);
}

/** The time; with the day where it is not today. */
export function timeOf(iso) {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: 'numeric', month: 'short' };
  return at.toLocaleString('en-GB', { ...day, hour: '2-digit', minute: '2-digit' });
}

const WAITS = {
  contact_window: 'wait for the contact window',
  rate: "wait for the sender's rate",
  pair_limit: 'wait a little after another message to the same phone',
  daily_recipients: "wait for the sender's daily limit of phones",
  sender_paused: 'are held: the sender is paused',
  template_paused: 'are held: their template is paused',
  simulated_failure: 'failed and are tried again',
};
const ENDS = {
  suppressed: 'the phone is suppressed',
  application_closed: 'the application was closed',
  replaced: 'a review led to another message',
  recipient_limit: 'the phone had its messages of 24 hours, or a later one took the place',
};

const OLDER = {
  queued: 'wait',
  sending: 'on the way',
  uncertain: 'uncertain',
  failed: 'failed',
  cancelled: 'cancelled',
};

/**
 * The states of messages that are on no phone, a text each: `12 wait for …, from Mon 07:00`. Where a status has more
 * messages than the service tells apart by reason, its total comes first.
 */
export function absentTexts(entries) {
  const statuses = [...new Set(entries.map(({ status }) => status))];
  return statuses.flatMap((status) => {
    const known = entries.filter((entry) => entry.status === status && !entry.isOlder);
    const older = entries.find((entry) => entry.status === status && entry.isOlder);
    if (older === undefined) return known.map(absentText);
    const newest = known.reduce((sum, { count }) => sum + count, 0);
    const total = `${newest + older.count} ${OLDER[status]}`;
    return [total, ...known.map((entry) => `of the newest ${newest}: ${absentText(entry)}`)];
  });
}

function absentText({ status, reason, count, dueAt }) {
  if (status === 'sending') return `${count} on the way`;
  if (status === 'uncertain') return `${count} uncertain: no answer to the send yet`;
  if (status === 'failed') return `${count} failed (${reason})`;
  if (status === 'cancelled') return `${count} cancelled: ${ENDS[reason] ?? reason}`;
  const later = reason === 'contact_window' ? `, the first from ${timeOf(dueAt)}` : '';
  return `${count} ${WAITS[reason] ?? 'about to go out'}${later}`;
}
