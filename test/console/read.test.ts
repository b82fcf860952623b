/** What the page wrote into a reading stays there, whatever was asked before it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { reading } = await import(String('../../console/src/api/read.ts'));

interface Known {
  readonly body: { readonly notes: readonly string[] };
}

/** The memory of one reading. */
function memory(first: object) {
  let data = first;
  return {
    getQueryData: () => data,
    set: (now: object) => {
      data = now;
    },
  };
}

describe('a reading that was asked for before a note was written', () => {
  for (const { answer, what } of [
    { answer: () => new Response(null, { status: 304 }), what: 'that nothing has changed' },
    { answer: () => Response.json({ notes: [] }, { headers: { ETag: '"1"' } }), what: 'the state before it' },
  ]) {
    it(`does not take the note off the page, where it is answered ${what}`, async (t) => {
      const before = { body: { notes: [] }, etag: '"1"', sentAt: 0, readAt: performance.now() };
      const queries = memory(before);
      const written = { ...before, body: { notes: ['it pays by the month'] } };
      let asked = 0;
      t.mock.method(globalThis, 'fetch', async () => {
        asked += 1;
        if (asked > 1) return Response.json(written.body, { headers: { ETag: '"1"' } });
        queries.set(written);
        return answer();
      });
      const read: Known = await reading(queries, ['application', '1'], '/applications/1').queryFn();
      assert.deepEqual(read.body, written.body);
    });
  }
});
