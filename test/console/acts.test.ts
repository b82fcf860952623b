/** Decisions that are sent again by themselves (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

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

describe('an undo while the newest decision is still on its way', () => {
  for (const { end, state, undone } of [
    { end: 200, state: 'undone', undone: ['/api/proposals/bulk/undo', '/api/proposals/2/undo'] },
    { end: 409, state: 'undone', undone: ['/api/proposals/bulk/undo'] },
    { end: 503, state: 'failed', undone: ['/api/proposals/bulk/undo'] },
  ]) {
    it(`takes back none but that one; answered ${end}, it is ${state}`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
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
      const acts = new Acts({
        setQueryData: () => {},
      });
      acts.start();
      acts.decide(DECISION);
      await until(() => acts.list()[0]?.state === 'proposed');
      acts.decide({ ...DECISION, applicationId: 2 });
      await until(() => answers.length === 1);
      acts.undo();
      await until(() => {
        answers.shift()?.();
        t.mock.timers.tick(1_000);
        return acts.list()[1]?.state === state;
      });
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
      t.mock.timers.enable({ apis: ['setTimeout'] });
      // The clock of the browser is years ahead, and no part of it.
      t.mock.method(Date, 'now', () => Date.parse('2031-01-01T00:00:00Z'));
      let asked = 0;
      const before = performance.now();
      t.mock.method(globalThis, 'fetch', async () => {
        asked += 1;
        if (asked === 1) throw new TypeError('no network');
        return Response.json({ ...proposalOf(1), now, state });
      });
      let invalidated = 0;
      const acts = new Acts({
        setQueryData: () => {},
        invalidateQueries: async () => {
          invalidated += 1;
        },
      });
      acts.start();
      acts.decide(DECISION);
      await until(() => {
        t.mock.timers.tick(1_000);
        return acts.list()[0]?.state !== 'sending';
      });
      const [act] = acts.list();
      assert.deepEqual([act.state, mayUndo(act)], [shown, isOffered]);
      // What came back is told by the list of one's own proposals, at once.
      assert.equal(invalidated, shown === 'over' ? 1 : 0);
      if (left !== null) {
        const counted = act.undoUntil - before;
        assert.ok(counted >= left && counted < left + performance.now() - before, `${counted}`);
      }
      t.mock.timers.tick(8_000);
      await until(() => acts.list().length === 0);
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

async function until(is: () => boolean): Promise<void> {
  for (let turn = 0; !is(); turn += 1) {
    assert.ok(turn < 1_000, 'it did not come');
    await new Promise(setImmediate);
  }
}
