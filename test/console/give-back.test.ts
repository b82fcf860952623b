/** What a page gives back holds nobody up: the sign-out waits for it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TestClock } from '../support/test-clock.ts';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { leave } = await import(String('../../console/src/api/queue.ts'));
const { forPage } = await import(String('../../console/src/api/page-id.ts'));

it('claims are given back within three seconds where the network does not answer', async (t) => {
  const clock = new TestClock();
  const asked = t.mock.method(
    globalThis,
    'fetch',
    (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  forPage();
  let isOver = false;
  const leaving = leave(clock, 1).then(() => {
    isOver = true;
  });
  await clock.advance(2_999);
  assert.equal(isOver, false);
  await clock.advance(1);
  await leaving;
  assert.equal(asked.mock.callCount(), 1);
});
