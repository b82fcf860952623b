/** Decisions that are sent again by themselves (D48). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TestClock } from '../support/test-clock.ts';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { Acts, mayUndo } = await import(String('../../console/src/decide/acts.ts'));

/** What was read changes by an answer, and here is none. */
const NO_QUERIES = {};
const DECISION = {
  applicationId: 1,
  body: { act: 'approve', reason_code: 'documents_verified', reason: 'a test' },
  etag: '"1"',
} as const;

describe('a decision that the service fails to take', () => {
  it('is tried four times, after 1, 2 and 4 seconds', async (t) => {
    const { clock, acts, asked } = refused(t);
    acts.start();
    acts.decide(DECISION);
    await clock.advance(0);
    for (const [tries, waitMs] of [1_000, 2_000, 4_000].entries()) {
      await clock.advance(waitMs - 1);
      assert.equal(asked(), tries + 1);
      assert.equal(acts.list()[0]?.state, 'sending');
      await clock.advance(1);
      assert.equal(asked(), tries + 2);
    }
    assert.equal(acts.list()[0]?.state, 'failed');
    assert.equal(clock.timers, 0);
  });

  it('is not tried again where its operator has left', async (t) => {
    const { clock, acts, asked } = refused(t);
    const end = acts.start();
    acts.decide(DECISION);
    await clock.advance(0);
    end();
    await clock.advance(1_000);
    assert.equal(acts.list()[0]?.state, 'failed');
    assert.equal(asked(), 1);
  });
});

/** Decisions that the service answers 503. */
function refused(t: TestContext) {
  const clock = new TestClock();
  let asked = 0;
  t.mock.method(globalThis, 'fetch', async () => {
    asked += 1;
    return new Response('{"error":"no"}', { status: 503 });
  });
  return { clock, acts: new Acts(NO_QUERIES, clock), asked: () => asked };
}

describe('an undo while the newest decision is still on its way', () => {
  for (const { end, state, undone } of [
    { end: 200, state: 'undone', undone: ['/api/proposals/bulk/undo', '/api/proposals/2/undo'] },
    { end: 409, state: 'undone', undone: ['/api/proposals/bulk/undo'] },
    { end: 503, state: 'failed', undone: ['/api/proposals/bulk/undo'] },
  ]) {
    it(`takes back none but that one; answered ${end}, it is ${state}`, async (t) => {
      const clock = new TestClock();
      const undos: string[] = [];
      const answers: (() => void)[] = [];
      t.mock.method(globalThis, 'fetch', async (url: string) => {
        if (url.endsWith('/undo')) {
          undos.push(url);
          return Response.json(proposalOf(2));
        }
        const id = Number(url.split('/')[3]);
        if (id === 2) await new Promise<void>((answer) => answers.push(answer));
        return Response.json(proposalOf(id), { status: id === 2 ? end : 200 });
      });
      const acts = new Acts({ setQueryData: () => {} }, clock);
      acts.start();
      acts.decide(DECISION);
      await clock.advance(0);
      assert.equal(acts.list()[0]?.state, 'proposed');
      acts.decide({ ...DECISION, applicationId: 2 });
      await clock.advance(0);
      acts.undo();
      for (let tries = 0; acts.list()[1]?.state !== state; tries += 1) {
        assert.ok(tries < 5, 'it did not come');
        answers.shift()?.();
        await clock.advance(4_000);
      }
      assert.deepEqual(undos, undone);
      assert.equal(acts.list()[0]?.state, 'proposed');
    });
  }
});

describe('a decision whose first answer was lost', () => {
  for (const { now, state, left, shown, isOffered } of [
    { now: '2026-01-01T00:59:57Z', state: 'proposed', left: 3_000, shown: 'proposed', isOffered: true },
    { now: '2026-01-01T01:00:02Z', state: 'proposed', left: null, shown: 'over', isOffered: false },
    { now: '2026-01-01T01:00:02Z', state: 'applied', left: null, shown: 'over', isOffered: false },
    { now: '2026-01-01T00:59:57Z', state: 'applied', left: null, shown: 'over', isOffered: false },
    { now: '2026-01-01T00:59:57Z', state: 'returned', left: null, shown: 'over', isOffered: false },
    { now: '2026-01-01T00:59:57Z', state: 'undone', left: null, shown: 'undone', isOffered: false },
  ]) {
    it(`and that is ${state} at ${now.slice(11, 19)} is shown so by the store’s clock (D39)`, async (t) => {
      // The clock of the browser is years ahead, and no part of it.
      const clock = new TestClock('2031-01-01T00:00:00Z');
      // A request notes by the browser's clock when it was sent.
      t.mock.method(Object.getPrototypeOf(performance), 'now', () => clock.monotonicMs());
      let asked = 0;
      t.mock.method(globalThis, 'fetch', async () => {
        asked += 1;
        if (asked === 1) throw new TypeError('no network');
        return Response.json({ ...proposalOf(1), now, state });
      });
      let invalidated = 0;
      const acts = new Acts(
        {
          setQueryData: () => {},
          invalidateQueries: async () => {
            invalidated += 1;
          },
        },
        clock,
      );
      acts.start();
      acts.decide(DECISION);
      await clock.advance(1_000);
      const [act] = acts.list();
      assert.deepEqual([act.state, mayUndo(act)], [shown, isOffered]);
      // What came back is told by the list of one's own proposals, at once.
      assert.equal(invalidated, shown === 'over' ? 1 : 0);
      if (left !== null) assert.equal(act.undoUntil - clock.monotonicMs(), left);
      // Shown as long as it can be undone, or as long as it is said what became of it.
      const shownMs = left ?? 8_000;
      await clock.advance(shownMs - 1);
      assert.equal(acts.list().length, 1);
      await clock.advance(1);
      assert.equal(acts.list().length, 0);
    });
  }
});

const proposalOf = (id: number) => ({
  id,
  application_id: id,
  state: 'proposed',
  at: '2026-01-01T00:00:00Z',
  apply_at: '2026-01-01T01:00:00Z',
  now: '2026-01-01T00:00:00Z',
});
