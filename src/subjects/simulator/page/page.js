/** The simulator's page: gets the chats every second, shows them, and opens one. */
import { renderChat } from './chat.js';
import { fillIn, renderComposer, startComposer } from './composer.js';
import { element, setText, sync } from './elements.js';
import { foundChats, isFinding, onFind, wantedPhone } from './find.js';
import { absentTexts, nameOf, phoneEntry, updatePhoneEntry } from './list.js';
import { send, TIMEOUT_MS } from './requests.js';
import { renderSecondPhone } from './second-phone.js';
import { startStranger } from './stranger.js';

const POLL_MS = 1_000;
const HIDDEN_POLL_MS = 10_000;

const byId = (id) => document.getElementById(id);
const narrow = matchMedia('(max-width: 760px)');

let chats = [];
let absent = [];
let tag = null;
/** The query of the last answer's question. */
let asked = '';
/** The id of the open chat; null: none. */
let openId = null;
/** The phone whose chat is to be opened as soon as the service tells it; null: none. */
let awaited = null;
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
    const query = queryOf();
    const response = await fetch(`/simulator/chats?${query}`, {
      cache: 'no-store',
      headers: tag === null ? {} : { 'If-None-Match': tag },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 304) {
      if (!response.ok) throw new Error(`status ${response.status}`);
      const answer = await response.json();
      if (query === asked) tell(answer.chats);
      asked = query;
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

function queryOf() {
  const phone = wantedPhone();
  const parts = { ...(phone === null ? {} : { phone }), ...(openId === null ? {} : { chat: openId }) };
  return new URLSearchParams(parts).toString();
}

function showConnection(isLive) {
  byId('connection').dataset.live = String(isLive);
  setText(byId('connection'), isLive ? 'Live' : 'No answer from the service, trying again');
}

/** Announces new messages to screen readers. The first answer is not announced. */
function tell(next) {
  if (tag === null) return;
  const known = new Set(chats.flatMap(keysOf));
  const fresh = next.filter((chat) => keysOf(chat).some((key) => !known.has(key)));
  const code = fresh.find(
    ({ id, codes }) => id === openId && codes.some(({ at }) => !known.has(`${id} ${at}`)),
  );
  if (code !== undefined) announce('A code came to the second phone');
  else if (fresh.length === 1) announce(`New message to ${nameOf(fresh[0])}`);
  else if (fresh.length > 1) announce(`New messages to ${fresh.length} phones`);
}

function keysOf({ id, messages, replies, codes }) {
  return [
    ...messages.map(({ messageId }) => messageId),
    ...replies.map(({ replyId }) => `reply ${replyId}`),
    ...codes.map(({ at }) => `${id} ${at}`),
  ];
}

function announce(text) {
  setText(byId('news'), text);
}

function render() {
  if (awaited !== null) openAwaited();
  const chat = chatOf(openId);
  if (chat === undefined) openId = null;
  byId('main').dataset.view = chat === undefined ? 'list' : 'chat';
  const found = foundChats(chats);
  setText(byId('phones-count'), chats.length === 0 ? '' : String(found.length));
  sync(
    byId('phones'),
    found.map((item) => ({ key: item.id, chat: item })),
    (item) => phoneEntry(() => open(item.key)),
    (entry, item) => updatePhoneEntry(entry, item.chat, item.key === openId),
  );
  sync(
    byId('absent'),
    absentTexts(absent).map((text, key) => ({ key, text })),
    () => element('li', ''),
    (entry, { text }) => setText(entry, text),
  );
  byId('release').hidden = !absent.some(({ reason }) => reason === 'contact_window');
  renderBlank(chat);
  if (chat === undefined) return;
  renderChat(chat, page);
  renderComposer(chat);
  renderSecondPhone(chat, fillIn);
}

function chatOf(id) {
  return chats.find((chat) => chat.id === id);
}

function openAwaited() {
  const chat = chats.find(({ phone }) => phone === awaited);
  if (chat === undefined) return;
  awaited = null;
  openId = chat.id;
}

function renderBlank(chat) {
  const isEmpty = chats.length === 0 && !isFinding();
  const waits = isEmpty && absent.some(({ status }) => status === 'queued' || status === 'sending');
  byId('main').dataset.empty = String(isEmpty);
  byId('empty').hidden = !isEmpty;
  byId('unopened').hidden = isEmpty || chat !== undefined;
  byId('chat').hidden = chat === undefined;
  setText(byId('empty-title'), waits ? 'No message is on a phone yet' : 'No messages yet');
  setText(
    byId('empty-text'),
    waits
      ? 'There are messages. Their states:'
      : 'Send a batch to the service. In a checkout, this command sends an example:',
  );
  byId('empty-command').hidden = waits;
}

function open(id) {
  openId = id;
  byId('text').value = '';
  render();
  refresh();
  if (narrow.matches) byId('chat-name').focus();
}

function close() {
  const entry = byId('phones').querySelector('[aria-current]');
  openId = null;
  render();
  entry?.focus();
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

const page = { announce, render, refresh, chatOf, openChat: () => chatOf(openId) };

onFind(() => {
  render();
  refresh();
});
byId('release').addEventListener('click', release);
byId('back').addEventListener('click', close);
startComposer(page);
startStranger((phone) => {
  awaited = phone;
  refresh();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) render();
  refresh();
});
refresh();
