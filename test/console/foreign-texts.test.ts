/** What strangers write hides nothing on any page of the console: answers of the API have their marks in sight. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../console/src/api/ask.ts';

test('texts of an answer show what would turn or hide them, at any depth; other values stay', async (t) => {
  const sent = { name: 'fdp\u202egpj.exe', notes: [{ text: 'An\u200ba\n👩\u200d🚀', id: 7, by: null }] };
  t.mock.method(globalThis, 'fetch', async () => new Response(JSON.stringify(sent)));
  assert.deepEqual((await ask('GET', '/anything')).body, {
    name: 'fdp\\u202egpj.exe',
    notes: [{ text: 'An\\u200ba\n👩\u200d🚀', id: 7, by: null }],
  });
});

test('a failure too', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => Response.json({ error: 'of \u202eana' }, { status: 409 }));
  await assert.rejects(ask('POST', '/anything', {}), { message: 'of \\u202eana' });
});
