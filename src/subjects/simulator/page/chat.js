/** The open chat: what was said in it, and the taps of its owner. */
import * as bubbles from './bubbles.js';
import { setAvatar, setText, sync } from './elements.js';
import { nameOf } from './list.js';
import { send } from './requests.js';

const byId = (id) => document.getElementById(id);
/** The places that were tapped on this page, by message or reply. */
const tapped = new Map();
/** The messages and replies that this page reported as read. */
const opened = new Set();

const tappedOf = (id) => tapped.get(id) ?? new Set();

/** The newest item is in sight. It stays there where the log gets smaller, as when a code comes to the second phone. */
let isAtEnd = true;
let height = 0;
byId('log').addEventListener('scroll', ({ target }) => {
  // Where the log got another height since it was scrolled, its place says nothing: the observer comes right after.
  if (target.clientHeight !== height) return;
  isAtEnd = target.scrollHeight - target.scrollTop - target.clientHeight < 40;
});
new ResizeObserver(([{ target }]) => {
  height = target.clientHeight;
  if (isAtEnd) target.scrollTop = target.scrollHeight;
}).observe(byId('log'));

/** Shows a chat. `page` has `announce`, `render` and `refresh`. */
export function renderChat(chat, page) {
  setText(byId('chat-name'), nameOf(chat));
  setText(byId('chat-phone'), chat.name === null ? 'No application is known' : chat.phone);
  const sender = chat.partner === null ? 'Ventanilla' : `${chat.partner} × Ventanilla`;
  setText(byId('chat-sender'), sender);
  setAvatar(byId('chat-avatar'), chat.partner ?? 'Ventanilla', chat.id);
  const log = byId('log');
  const another = log.dataset.chat !== chat.id;
  if (another) isAtEnd = true;
  const last = log.lastElementChild?.dataset.key;
  if (another) log.replaceChildren();
  log.dataset.chat = chat.id;
  sync(log, itemsOf(chat), (item) => makeItem(chat, item, page), updateItem);
  if (another || (isAtEnd && log.lastElementChild?.dataset.key !== last)) log.scrollTop = log.scrollHeight;
  markRead(chat, page);
}

/**
 * The items of the chat, by time. The interest of an applicant stands once, with the first message that asks for it.
 */
function itemsOf(chat) {
  const items = [
    ...chat.messages.map((message) => ({
      ...{ key: `message ${message.messageId}`, at: message.createdAt, message },
    })),
    ...interestsOf(chat),
    ...chat.said.map((said) => ({ ...said, key: `said ${said.messageId}`, isOwn: true })),
    ...notesOf(chat),
    ...chat.replies.map((reply) => ({ key: `reply ${reply.replyId}`, at: reply.at, reply })),
  ];
  items.sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
  if (chat.isTyping) items.push({ key: 'typing', isTyping: true });
  return items;
}

/** The interests that were told on another page, or before the service started: the phones forgot their taps. */
function interestsOf(chat) {
  const known = new Set(chat.said.map(({ interestIn }) => interestIn));
  return firstOffersOf(chat).flatMap(({ applicationId, interestedAt, buttons }) => {
    if (interestedAt === null || known.has(applicationId)) return [];
    const text = buttons.find(({ isInterest }) => isInterest)?.title ?? '';
    return [{ key: `interest ${applicationId}`, at: interestedAt, text, isOwn: true }];
  });
}

function firstOffersOf({ messages }) {
  const first = new Map();
  for (const message of messages) {
    const asks = message.buttons.some(({ isInterest }) => isInterest);
    if (asks && !first.has(message.applicationId)) first.set(message.applicationId, message);
  }
  return [...first.values()];
}

function notesOf(chat) {
  const notes = firstOffersOf(chat).flatMap(({ applicationId, interestedAt }) => {
    if (interestedAt === null) return [];
    const text = `Interest recorded in the history of application ${applicationId}`;
    return [{ key: `recorded ${applicationId}`, at: interestedAt, text }];
  });
  if (chat.suppressedAt !== null) {
    const text = 'This phone gets no more messages: its owner opted out';
    notes.push({ key: 'suppressed', at: chat.suppressedAt, text });
  }
  return notes;
}

function makeItem(chat, item, page) {
  if (item.isTyping) return bubbles.typing();
  if (item.message !== undefined)
    return bubbles.messageBubble(item, (index) => tap(chat, item.message.messageId, index, page));
  if (item.reply !== undefined) return bubbles.replyBubble(item, (index) => choose(item.reply, index, page));
  return item.isOwn ? bubbles.ownBubble(item) : bubbles.note(item);
}

function updateItem(element, item) {
  if (item.message !== undefined)
    bubbles.updateMessageBubble(element, item, tappedOf(item.message.messageId));
  if (item.reply !== undefined) bubbles.updateReplyBubble(element, item, tappedOf(item.reply.replyId));
  if (item.isOwn) bubbles.updateOwnBubble(element, item);
}

async function markRead(chat, { refresh }) {
  if (document.hidden) return;
  const unread = [
    ...chat.messages.map(({ status, messageId }) => ({ status, path: 'open', body: { messageId } })),
    ...chat.replies.map(({ status, replyId }) => ({ status, path: 'open-reply', body: { replyId } })),
  ].filter(({ status, body }) => status !== 'read' && !opened.has(JSON.stringify(body)));
  if (unread.length === 0) return;
  for (const { body } of unread) opened.add(JSON.stringify(body));
  try {
    for (const { path, body } of unread) await send(path, body);
  } catch {
    for (const { body } of unread) opened.delete(JSON.stringify(body));
  }
  refresh();
}

async function tap({ id }, messageId, index, page) {
  const chat = page.chatOf(id);
  const message = chat?.messages.find((one) => one.messageId === messageId);
  const button = message?.buttons[index];
  const isDone = tappedOf(messageId).has(index) || (button?.isInterest && message.interestedAt !== null);
  if (button === undefined || isDone) return;
  const words = button.isInterest ? 'is interested' : `tapped ${button.title}`;
  await act(messageId, index, page, ['tap', { messageId, button: index }], `${nameOf(chat)} ${words}`);
}

async function choose({ replyId, buttons, list }, index, page) {
  const { title } = (list?.rows ?? buttons)[index];
  await act(replyId, index, page, ['choose', { replyId, choice: index }], `Tapped ${title}`);
}

async function act(id, index, { announce, render, refresh }, [path, body], words) {
  const places = tappedOf(id);
  const isFirst = !places.has(index);
  tapped.set(id, places.add(index));
  render();
  try {
    await send(path, body);
    announce(words);
  } catch {
    if (isFirst) places.delete(index);
    announce('The tap did not reach the service. Try again.');
  }
  render();
  refresh();
}
