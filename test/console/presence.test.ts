/** A page that nobody uses says so with each request, so that its session ends (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { ask } = await import(String('../../console/src/api/ask.ts'));
const { watchPresence } = await import(String('../../console/src/api/presence.ts'));

it('says that somebody is there for a minute after a key, a click or a turn of the wheel', async (t) => {
  let now = performance.now();
  const said: (string | null)[] = [];
  t.mock.method(Object.getPrototypeOf(performance), 'now', () => now);
  t.mock.method(
    globalThis,
    'fetch',
    async (_url: string, { headers }: { headers: Record<string, string> }) => {
      said.push(headers['Operator-Active'] ?? null);
      return new Response('{}');
    },
  );
  const page = new EventTarget();
  watchPresence(page);
  const sayAfter = async (ms: number) => {
    now += ms;
    await ask('GET', '/review-queue');
    await ask('POST', '/applications/1/claim', {});
  };
  await sayAfter(0);
  await sayAfter(61_000);
  for (const use of ['keydown', 'pointerdown', 'wheel']) {
    page.dispatchEvent(new Event(use));
    await sayAfter(30_000);
    await sayAfter(31_000);
  }
  page.dispatchEvent(new Event('pointermove'));
  await sayAfter(0);
  const [yes, no] = [Array(2).fill('true'), Array(2).fill('false')];
  assert.deepEqual(said, [...yes, ...no, ...yes, ...no, ...yes, ...no, ...yes, ...no, ...no]);
});
