/** What a page gives back holds nobody up: the sign-out waits for it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PATIENCE_MS } from '../support/eventually.ts';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { leave } = await import(String('../../console/src/api/queue.ts'));
const { forPage } = await import(String('../../console/src/api/page-id.ts'));

it('claims are given back in bounded time where the network does not answer', {
  timeout: PATIENCE_MS,
}, async (t) => {
  // The process waits, also for a request that has no limit.
  const open = setTimeout(() => {}, PATIENCE_MS);
  t.after(() => clearTimeout(open));
  const asked = t.mock.method(
    globalThis,
    'fetch',
    (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  forPage();
  await leave(1);
  assert.equal(asked.mock.callCount(), 1);
});
