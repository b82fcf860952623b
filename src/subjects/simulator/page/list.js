/** The list of the phones, and what is on no phone. */
import { element, setAvatar, setText, timeOf } from './elements.js';

const OUTCOMES = { approved: 'Approved', offer: 'In review', rejected: 'Rejected' };

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
  setAvatar(avatar, nameOf(chat), chat.id);
  setText(name, nameOf(chat));
  setText(time, timeOf(newestTimeOf(chat)));
  setText(preview, previewOf(chat));
  setText(mark, isUnread(chat) ? 'New' : '');
  if (isOpen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

/** The applicant's name; the number of a phone without an application. */
export function nameOf({ name, phone }) {
  return name ?? phone;
}

function newestTimeOf({ messages, replies, said }) {
  const times = [messages.at(-1)?.createdAt, replies.at(-1)?.at, said.at(-1)?.at];
  return times.filter((time) => time !== undefined).reduce((left, right) => (left > right ? left : right));
}

/** True where a message or a reply of the chat is not read. */
function isUnread({ messages, replies }) {
  return [...messages, ...replies].some(({ status }) => status !== 'read');
}

/** The outcome that the last message tells, and what was said after it. */
function previewOf({ messages, replies, said, suppressedAt }) {
  const last = messages.at(-1);
  const reply = replies.at(-1);
  const parts = [last === undefined ? [] : OUTCOMES[last.type]];
  if (suppressedAt !== null) parts.push('wants no more messages');
  else if (reply !== undefined) parts.push(reply.text);
  else if (last !== undefined && last.interestedAt !== null) parts.push('interested');
  else if (last === undefined) parts.push(said.at(-1)?.text ?? '');
  return parts.flat().join(' · ');
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
