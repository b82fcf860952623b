/** The second phone of the open chat's owner: it shows the codes that do not come into the chat. */
import { element, setText, sync, timeOf } from './elements.js';

const byId = (id) => document.getElementById(id);

/** Shows the codes of a chat, the newest first. `write` gets the digits of a code that the person wants to write. */
export function renderSecondPhone({ id, codes }, write) {
  byId('second').dataset.empty = String(codes.length === 0);
  const items = codes.map((code) => ({ ...code, key: `${id} ${code.at}` })).reverse();
  sync(byId('codes'), items, (item) => entryOf(item, write), updateEntry);
}

function entryOf({ text }, write) {
  const [digits] = /\d{4,8}/.exec(text) ?? [];
  const parts = [element('p', 'text', text), element('p', 'meta')];
  if (digits !== undefined) {
    const button = element('button', 'plain', 'Type this code');
    button.type = 'button';
    button.addEventListener('click', () => write(digits));
    parts.push(button);
  }
  return element('li', 'code', ...parts);
}

function updateEntry(entry, { at }) {
  setText(entry.children[1], timeOf(at));
}
