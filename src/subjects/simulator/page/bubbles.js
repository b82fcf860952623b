/** The bubbles of a chat. */
import { element, setText, timeOf } from './elements.js';

const STATUS_WORDS = {
  accepted: 'Accepted',
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Read',
  unheard: 'Lost on its way',
};
const ICONS = { unheard: 'accepted', read: 'delivered' };

/** Makes the bubble of a message. A tap calls `tap` with the place of the button. */
export function messageBubble({ message }, tap) {
  return bubbleOf([], message.buttons, tap);
}

/** Brings a message's bubble up to date. `tapped` has the places of the tapped buttons. */
export function updateMessageBubble(item, { message }, tapped) {
  const [bubble, replies] = item.children;
  setText(bubble.querySelector('.text'), message.text);
  setText(
    bubble.querySelector('.when'),
    `Application ${message.applicationId} · ${timeOf(message.createdAt)}`,
  );
  updateStatus(bubble.querySelector('.status'), message.status);
  message.buttons.forEach(({ title, isInterest }, index) => {
    const done = tapped.has(index) || (isInterest && message.interestedAt !== null);
    markDone(replies.children[index].firstChild, title, done);
    // Not `disabled`, because the button would lose the focus.
    replies.children[index].setAttribute('aria-disabled', String(done));
  });
}

/** Makes the bubble of a reply. A tap calls `choose` with the place of the button or the row. */
export function replyBubble({ reply }, choose) {
  const file = reply.document === null ? [] : [fileLink(reply.document)];
  const item = bubbleOf(file, reply.buttons, choose);
  if (reply.list !== undefined) item.lastChild.append(listOf(reply.list, choose));
  return item;
}

/** Brings a reply's bubble up to date. `chosen` has the places that were tapped: they can be tapped again. */
export function updateReplyBubble(item, { reply }, chosen) {
  const bubble = item.firstChild;
  setText(bubble.querySelector('.text'), reply.text);
  setText(bubble.querySelector('.when'), timeOf(reply.at));
  updateStatus(bubble.querySelector('.status'), reply.status);
  const choices = [...reply.buttons, ...(reply.list?.rows ?? [])];
  const targets = item.querySelectorAll('.reply .title');
  choices.forEach(({ title }, index) => {
    markDone(targets[index], title, chosen.has(index));
  });
}

function bubbleOf(parts, buttons, act) {
  const meta = element('p', 'meta', element('span', 'when'), element('span', 'status'));
  const bubble = element('div', 'bubble theirs', ...parts, element('p', 'text'), meta);
  const replies = buttons.map((_, index) => choice(index, act));
  return element('li', 'item', bubble, element('div', 'replies', ...replies));
}

function choice(index, act, ...parts) {
  const button = element('button', 'reply', element('span', 'title'), ...parts);
  button.type = 'button';
  button.addEventListener('click', () => act(index));
  return button;
}

function listOf({ button, rows }, choose) {
  const entries = rows.map(({ description }, index) =>
    choice(
      index,
      choose,
      ...(description === undefined ? [] : [element('span', 'description', description)]),
    ),
  );
  return element('details', 'choices', element('summary', 'reply', button), ...entries);
}

function fileLink({ mediaId, filename, isThere }) {
  if (isThere === false) return element('p', 'file', `${filename} (the channel does not have it any more)`);
  const link = element('a', 'file', filename);
  link.href = `/simulator/files/${encodeURIComponent(mediaId)}`;
  link.target = '_blank';
  link.rel = 'noopener';
  return element('p', '', link);
}

function markDone(target, title, isDone) {
  setText(target, isDone ? `${title} ✓` : title);
}

function updateStatus(target, status) {
  if (target.dataset.status === status) return;
  target.dataset.status = status;
  const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#icon-${ICONS[status] ?? status}`);
  icon.setAttribute('class', 'ticks');
  icon.setAttribute('aria-hidden', 'true');
  icon.append(use);
  target.replaceChildren(STATUS_WORDS[status], icon);
}

/** Makes the bubble of what the applicant said. */
export function ownBubble({ text, file }) {
  const parts = file == null ? [] : [fileLink(file)];
  if (text !== '') parts.push(element('p', 'text', text));
  const meta = element('p', 'meta', element('span', 'when'), element('span', 'status'));
  return element('li', 'item mine', element('div', 'bubble', ...parts, meta));
}

/** Brings the bubble of what the applicant said up to date. */
export function updateOwnBubble(item, { at, status }) {
  setText(item.querySelector('.when'), timeOf(at));
  if (status !== undefined) updateStatus(item.querySelector('.status'), status);
}

/** Makes a note in the middle of the chat. */
export function note({ text }) {
  return element('li', 'item note', text);
}

/** Makes the sign that an answer is being typed. */
export function typing() {
  const dots = [1, 2, 3].map(() => element('span', 'dot'));
  return element(
    'li',
    'item',
    element('div', 'bubble theirs typing', element('span', 'hidden', 'Typing'), ...dots),
  );
}
