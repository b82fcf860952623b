/** What the applicant can send: a text, files, and other things; and the end of the channel's 24 hours. */
import { setText } from './elements.js';
import { send, upload } from './requests.js';

const byId = (id) => document.getElementById(id);

/** `page` has `openChat`, `announce` and `refresh`. */
export function startComposer(page) {
  byId('composer').addEventListener('submit', (event) => {
    event.preventDefault();
    write(page);
  });
  byId('more-open').addEventListener('click', () => byId('more').showModal());
  byId('more-close').addEventListener('click', () => byId('more').close());
  byId('more-form').addEventListener('submit', (event) => event.preventDefault());
  byId('files').addEventListener('change', () => sendFiles(page));
  for (const button of document.querySelectorAll('[data-made]')) {
    button.addEventListener('click', () => act(page, 'made-up', { what: button.dataset.made }));
  }
  for (const button of document.querySelectorAll('[data-other]')) {
    button.addEventListener('click', () => act(page, 'other', { what: button.dataset.other }));
  }
  byId('window').addEventListener('click', () => {
    act(page, 'window', { isOver: byId('window').getAttribute('aria-pressed') !== 'true' });
  });
}

/** Shows whether the channel's 24 hours of the chat are over. */
export function renderComposer({ windowIsOver }) {
  byId('window').setAttribute('aria-pressed', String(windowIsOver));
  setText(byId('window'), windowIsOver ? 'Begin the 24 hours again' : 'End the 24 hours');
  byId('window-note').hidden = !windowIsOver;
}

/** Puts a text into the field, for the person to send. */
export function fillIn(text) {
  byId('text').value = text;
  byId('text').focus();
}

async function write({ openChat, announce, refresh }) {
  const input = byId('text');
  const body = input.value.trim();
  const chat = openChat();
  if (chat === undefined || body === '') return;
  input.value = '';
  try {
    await send('text', { phone: chat.phone, body });
  } catch {
    if (input.value === '') input.value = body;
    announce('The text did not reach the service. Try again.');
  }
  refresh();
}

async function act({ openChat, announce, refresh }, path, body) {
  const chat = openChat();
  byId('more').close();
  if (chat === undefined) return;
  try {
    await send(path, { phone: chat.phone, ...body });
  } catch {
    announce('That did not reach the service. Try again.');
  }
  refresh();
}

const KINDS = { image: 'image', audio: 'audio', video: 'video' };

async function sendFiles({ openChat, announce, refresh }) {
  const chat = openChat();
  const files = [...byId('files').files];
  byId('files').value = '';
  byId('more').close();
  if (chat === undefined) return;
  try {
    for (const file of files) {
      const media = KINDS[file.type.split('/')[0]] ?? 'document';
      // Only documents have a name at the channel.
      const filename = media === 'document' ? file.name.slice(-240) : null;
      const mediaId = await upload(file);
      await send('file', { phone: chat.phone, mediaId, media, filename, caption: null });
    }
  } catch {
    announce('A file did not reach the service. Try again.');
  }
  refresh();
}
