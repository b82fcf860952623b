/** The tables of docs/messages.md have every status of a message and every code of the channel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ERROR_CODES } from '../src/messages/channels/whatsapp-errors.ts';
import { backoffMs, MAX_TRIES } from '../src/messages/rules/after-send.ts';
import { MESSAGE_STATUSES } from '../src/messages/rules/notify.ts';
import { tableAfter } from './support/markdown.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../docs/messages.md'), 'utf8');

test('each status has its row, and there are no other rows', () => {
  const named = tableAfter(DOCUMENT, '## The states\n').map(([state]) => state);
  assert.deepEqual(
    named,
    MESSAGE_STATUSES.map((status) => `\`${status}\``),
  );
});

const ROW_OF = {
  retry: /^again, with backoff/,
  pause_recipient: /^again after 4,/,
  wait: /^again after 24 hours/,
  give_up: /^`failed`$/,
  opted_out: /^`failed`, and the phone is suppressed/,
  pause_template: /^the template is paused/,
  pause_sender: /^the sender is paused/,
} as const;
for (const [action, codes] of Object.entries(ERROR_CODES)) {
  test(`the row of ${action} has the codes that lead to it`, () => {
    const row = tableAfter(DOCUMENT, "What WhatsApp's codes lead to").find(([text, , happens]) => {
      return /^\d/.test(text ?? '') && ROW_OF[action as keyof typeof ROW_OF].test(happens ?? '');
    });
    const written = (row?.[0] ?? '').split(', ').flatMap((text) => {
      const [first, last = first] = text.split(' to ').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
    assert.deepEqual(written.toSorted(), codes.toSorted());
  });
}

test('the waits of the document are the waits between attempts', () => {
  const waits = Array.from({ length: MAX_TRIES - 1 }, (_, index) => backoffMs(index + 1, 0) / 1_000);
  const text = `${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} seconds`;
  assert.ok(DOCUMENT.replace(/\s+/g, ' ').includes(text), text);
  assert.ok(DOCUMENT.includes(`in try ${MAX_TRIES}`));
});
