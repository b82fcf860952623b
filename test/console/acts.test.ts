/** Decisions that are sent again by themselves (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { Acts } = await import(String('../../console/src/decide/acts.ts'));

/** What was read changes by an answer, and here is none. */
const NO_QUERIES = {};
const DECISION = {
  applicationId: 1,
  body: { act: 'approve', reason_code: 'documents_verified', reason: 'a test' },
  etag: '"1"',
} as const;

describe('a decision that the service fails to take', () => {
  for (const { leaves, tries } of [
    { leaves: false, tries: 4 },
    { leaves: true, tries: 1 },
  ]) {
    it(`is tried ${tries} times where its operator ${leaves ? 'leaves' : 'stays'}`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      let asked = 0;
      t.mock.method(globalThis, 'fetch', async () => {
        asked += 1;
        return new Response('{"error":"no"}', { status: 503 });
      });
      const acts = new Acts(NO_QUERIES);
      const end = acts.start();
      acts.decide(DECISION);
      for (let turn = 0; turn < 100 && acts.list()[0]?.state === 'sending'; turn += 1) {
        await new Promise(setImmediate);
        if (asked > 0 && leaves) end();
        t.mock.timers.tick(1_000);
      }
      assert.equal(acts.list()[0]?.state, 'failed');
      assert.equal(asked, tries);
    });
  }
});
