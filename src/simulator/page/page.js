/** The simulator's page: gets the chats every second, shows them, and sends taps and texts to the service. */
import { foundChats, isFinding, onFind, wantedPhone } from './find.js';
import * as view from './view.js';

const POLL_MS = 1_000;
const HIDDEN_POLL_MS = 10_000;
const TIMEOUT_MS = 8_000;

const byId = (id) => document.getElementById(id);
const narrow = matchMedia('(max-width: 760px)');

let chats = [];
let absent = [];
let tag = null;
/** The phone of the last answer's question; null: all phones. */
let asked = null;
/** The id of the open chat; null: none. */
let openId = null;
/** The texts and taps of this page by chat. The service does not store them. */
const said = new Map();
/** The places of the buttons that were tapped on this page, by message. */
const tapped = new Map();
/** The messages that this page reported as read. */
const opened = new Set();
let timer;
let asking = null;
let askAgain = false;

/** Gets the chats at once, or again after the request under way. */
function refresh() {
  clearTimeout(timer);
  if (asking !== null) askAgain = true;
  else asking = ask();
}

async function ask() {
  askAgain = false;
  try {
    const phone = wantedPhone();
    const query = phone === null ? '' : `?phone=${encodeURIComponent(phone)}`;
    const response = await fetch(`/simulator/chats${query}`, {
      cache: 'no-store',
      headers: tag === null ? {} : { 'If-None-Match': tag },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 304) {
      if (!response.ok) throw new Error(`status ${response.status}`);
      const answer = await response.json();
      if (phone === asked) tell(answer.chats);
      asked = phone;
      ({ chats, absent } = answer);
      tag = response.headers.get('ETag');
      render();
    }
    showConnection(true);
  } catch {
    showConnection(false);
  }
  asking = null;
  if (askAgain) refresh();
  else timer = setTimeout(refresh, document.hidden ? HIDDEN_POLL_MS : POLL_MS);
}

function showConnection(isLive) {
  byId('connection').dataset.live = String(isLive);
  view.setText(byId('connection'), isLive ? 'Live' : 'No answer from the service, trying again');
}

/** Announces new messages to screen readers. The first answer is not announced. */
function tell(next) {
  if (tag === null) return;
  const known = new Set(chats.flatMap(({ messages }) => messages.map(({ messageId }) => messageId)));
  const fresh = next.filter(({ messages }) => messages.some(({ messageId }) => !known.has(messageId)));
  if (fresh.length === 1) announce(`New message to ${fresh[0].name}`);
  if (fresh.length > 1) announce(`New messages to ${fresh.length} phones`);
}

function announce(text) {
  view.setText(byId('news'), text);
}

async function send(path, body) {
  const response = await fetch(`/simulator/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
}

function render() {
  const chat = chats.find(({ id }) => id === openId);
  if (chat === undefined) openId = null;
  byId('main').dataset.view = chat === undefined ? 'list' : 'chat';
  const found = foundChats(chats);
  view.setText(byId('phones-count'), chats.length === 0 ? '' : String(found.length));
  view.sync(
    byId('phones'),
    found.map((item) => ({ key: item.id, chat: item })),
    (item) => view.phoneEntry(() => open(item.key)),
    (entry, item) => view.updatePhoneEntry(entry, item.chat, item.key === openId),
  );
  view.sync(
    byId('absent'),
    view.absentTexts(absent).map((text, key) => ({ key, text })),
    () => view.element('li', ''),
    (entry, { text }) => view.setText(entry, text),
  );
  byId('release').hidden = !absent.some(({ reason }) => reason === 'contact_window');
  renderBlank(chat);
  if (chat !== undefined) renderChat(chat);
}

function renderBlank(chat) {
  const isEmpty = chats.length === 0 && !isFinding();
  const waits = isEmpty && absent.some(({ status }) => status === 'queued' || status === 'sending');
  byId('main').dataset.empty = String(isEmpty);
  byId('empty').hidden = !isEmpty;
  byId('unopened').hidden = isEmpty || chat !== undefined;
  byId('chat').hidden = chat === undefined;
  view.setText(byId('empty-title'), waits ? 'No message is on a phone yet' : 'No messages yet');
  view.setText(
    byId('empty-text'),
    waits
      ? 'There are messages. Their states:'
      : 'Send a batch to the service. In a checkout, this command sends an example:',
  );
  byId('empty-command').hidden = waits;
}

function renderChat(chat) {
  view.setText(byId('chat-name'), chat.name);
  view.setText(byId('chat-phone'), chat.phone);
  view.setText(byId('chat-sender'), `${chat.partner} × Ventanilla`);
  view.setAvatar(byId('chat-avatar'), chat.partner, chat.id);
  const log = byId('log');
  const another = log.dataset.chat !== chat.id;
  const atEnd = another || log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const before = log.childElementCount;
  log.dataset.chat = chat.id;
  view.sync(log, itemsOf(chat), makeItem, (item, entry) => {
    if (entry.message !== undefined) view.updateMessageBubble(item, entry, tappedOf(entry.message));
  });
  if (another || (atEnd && log.childElementCount !== before)) log.scrollTop = log.scrollHeight;
  markRead(chat);
}

/**
 * The items of the chat, by time. The interest of an applicant stands once, with the first message that asks for it.
 */
function itemsOf(chat) {
  const askedBy = new Map();
  for (const { messageId, applicationId, buttons } of chat.messages) {
    if (!askedBy.has(applicationId) && buttons.some(({ isInterest }) => isInterest))
      askedBy.set(applicationId, messageId);
  }
  const items = chat.messages.flatMap((message) => {
    const { messageId, applicationId, interestedAt } = message;
    const bubble = { key: `message ${messageId}`, at: message.createdAt, message };
    if (interestedAt === null || messageId !== askedBy.get(applicationId)) return [bubble];
    const title = message.buttons.find(({ isInterest }) => isInterest)?.title ?? '';
    const text = `Interest recorded in the history of application ${applicationId}`;
    return [
      bubble,
      { key: `interest ${applicationId}`, at: interestedAt, text: title },
      { key: `recorded ${applicationId}`, at: interestedAt, text, isNote: true },
    ];
  });
  items.push(...(said.get(chat.id) ?? []));
  if (chat.suppressedAt !== null) {
    const text = 'This phone gets no more messages: its owner opted out';
    items.push({ key: 'suppressed', at: chat.suppressedAt, text, isNote: true });
  }
  return items.sort((left, right) => Date.parse(left.at) - Date.parse(right.at));
}

function makeItem(item) {
  if (item.message === undefined) return item.isNote ? view.note(item) : view.ownBubble(item);
  return view.messageBubble(item, (index) => tap(item.message.messageId, index));
}

function tappedOf({ messageId }) {
  return tapped.get(messageId) ?? new Set();
}

function open(id) {
  openId = id;
  byId('text').value = '';
  render();
  if (narrow.matches) byId('chat-name').focus();
}

function close() {
  const entry = byId('phones').querySelector('[aria-current]');
  openId = null;
  render();
  entry?.focus();
}

async function markRead(chat) {
  if (document.hidden) return;
  const unread = chat.messages.filter(({ status, messageId }) => status !== 'read' && !opened.has(messageId));
  if (unread.length === 0) return;
  for (const { messageId } of unread) opened.add(messageId);
  try {
    for (const { messageId } of unread) await send('open', { messageId });
  } catch {
    for (const { messageId } of unread) opened.delete(messageId);
  }
  refresh();
}

async function tap(messageId, index) {
  const chat = chats.find(({ id }) => id === openId);
  const message = chat?.messages.find((one) => one.messageId === messageId);
  const button = message?.buttons[index];
  const places = tapped.get(messageId) ?? new Set();
  if (button === undefined || places.has(index) || (button.isInterest && message.interestedAt !== null))
    return;
  tapped.set(messageId, places.add(index));
  render();
  try {
    await send('tap', { messageId, button: index });
    if (!button.isInterest) showOwnText(chat.id, button.title);
    announce(button.isInterest ? `${chat.name} is interested` : `${chat.name} tapped ${button.title}`);
  } catch {
    places.delete(index);
    announce('The tap did not reach the service. Try again.');
  }
  render();
  refresh();
}

let serial = 0;

/** Shows a text as the applicant's own. Returns a function that removes the text again. */
function showOwnText(chatId, text) {
  serial += 1;
  const item = { key: `said ${serial}`, at: new Date().toISOString(), text };
  const items = said.get(chatId) ?? [];
  said.set(chatId, items);
  items.push(item);
  return () => items.splice(items.indexOf(item), 1);
}

async function write(event) {
  event.preventDefault();
  const input = byId('text');
  const body = input.value.trim();
  const chat = chats.find(({ id }) => id === openId);
  if (chat === undefined || body === '') return;
  input.value = '';
  const takeBack = showOwnText(chat.id, body);
  render();
  try {
    await send('text', { messageId: chat.messages.at(-1).messageId, body });
  } catch {
    takeBack();
    input.value = body;
    announce('The text did not reach the service. Try again.');
  }
  render();
  refresh();
}

async function release() {
  try {
    await send('release', {});
    announce('The messages that waited for their hour go out now');
  } catch {
    announce('The release did not reach the service. Try again.');
  }
  refresh();
}

onFind(() => {
  render();
  refresh();
});
byId('release').addEventListener('click', release);
byId('back').addEventListener('click', close);
byId('composer').addEventListener('submit', write);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) render();
  refresh();
});
refresh();
