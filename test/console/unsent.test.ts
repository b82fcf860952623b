/** What is lost by a sign-out or a closed tab is known before (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TestClock } from '../support/test-clock.ts';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { Acts } = await import(String('../../console/src/decide/acts.ts'));
const { guardLeaving, isOnItsWay, isUnsent, watchDecisions, whenSent } = await import(
  String('../../console/src/decide/unsent.ts')
);
const { showOperator } = await import(String('../../console/src/api/ask.ts'));

const DECISION = {
  applicationId: 1,
  body: { act: 'approve', reason_code: 'documents_verified', reason: 'a test' },
  etag: '"1"',
} as const;

for (const { status, isLost } of [
  { status: 503, isLost: true },
  { status: 429, isLost: true },
  { status: 412, isLost: false },
]) {
  it(`a decision is unsent until it is answered ${status}, and then ${isLost ? 'still' : 'no more'}`, async (t) => {
    const answer = Promise.withResolvers<Response>();
    t.mock.method(globalThis, 'fetch', () => answer.promise);
    const clock = new TestClock();
    const acts = new Acts({}, clock);
    const tab = new EventTarget();
    const end = guardLeaving(tab);
    const closes = () => tab.dispatchEvent(new Event('beforeunload', { cancelable: true }));
    showOperator(1);
    watchDecisions(acts);
    assert.equal(closes(), true);
    acts.decide(DECISION);
    assert.deepEqual([isOnItsWay(), isUnsent(), closes()], [true, true, false]);
    const isSent = whenSent(clock, 1_000_000);
    answer.resolve(new Response('{"error":"no"}', { status }));
    // A decision that may pass is tried four times.
    await clock.advance(7_000);
    await isSent;
    assert.deepEqual([isOnItsWay(), isUnsent(), closes()], [false, isLost, !isLost]);
    showOperator(null);
    assert.equal(closes(), true);
    end();
  });
}

it('a sign-out waits for what gets no answer only so long', async (t) => {
  t.mock.method(globalThis, 'fetch', () => new Promise(() => {}));
  const clock = new TestClock();
  const acts = new Acts({}, clock);
  showOperator(1);
  watchDecisions(acts);
  acts.decide(DECISION);
  let isOver = false;
  const waiting = whenSent(clock, 5_000).then(() => {
    isOver = true;
  });
  await clock.advance(4_999);
  assert.equal(isOver, false);
  await clock.advance(1);
  await waiting;
  assert.equal(isUnsent(), true);
  showOperator(null);
});

it('a decision and its undo arrive also where the tab is closed before their answers', async (t) => {
  const sent: [url: string, keepalive: boolean | undefined][] = [];
  t.mock.method(globalThis, 'fetch', (url: string, { keepalive }: RequestInit) => {
    sent.push([url, keepalive]);
    return new Promise(() => {});
  });
  const clock = new TestClock();
  const acts = new Acts({}, clock);
  showOperator(1);
  acts.start();
  acts.decide(DECISION);
  acts.undo();
  await clock.advance(0);
  assert.deepEqual(sent, [
    ['/api/applications/1/proposals', true],
    ['/api/proposals/bulk/undo', true],
  ]);
  showOperator(null);
});
