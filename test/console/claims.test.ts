/** A claim is called held as long as its lease lasts without a renewal, and no longer (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CLAIM_SECONDS } from '../../src/subjects/desk/sql/claims.ts';
import { TestClock } from '../support/test-clock.ts';

// By a name that the compiler does not follow: the page's files need the types of a browser.
const { Claims } = await import(String('../../console/src/decide/claims.ts'));

for (const { name, answers, states } of [
  { name: 'ends where nobody answers', answers: false, states: ['held', 'asked'] },
  { name: 'goes on where it is renewed', answers: true, states: ['held', 'held'] },
]) {
  it(`a claim ${name}`, async (t) => {
    const clock = new TestClock();
    const shown = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    Object.assign(globalThis, { document: shown, window: new EventTarget() });
    t.after(() => {
      for (const name of ['document', 'window']) Reflect.deleteProperty(globalThis, name);
    });
    t.mock.method(globalThis, 'fetch', async () => {
      if (!answers) throw new TypeError('no network');
      return Response.json({});
    });
    const claims = new Claims(1, clock);
    const end = claims.start();
    claims.note(7);
    const after = async (ms: number) => {
      await clock.advance(ms);
      return claims.stateOf(7).is;
    };
    const lease = CLAIM_SECONDS * 1_000;
    assert.deepEqual([await after(lease - 1), await after(1)], states);
    end();
  });
}
