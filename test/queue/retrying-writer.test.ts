/** What must not be lost is stored by trying again, and given up after a bound. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RetryingWriter } from '../../src/program/queue/retrying-writer.ts';
import { TestClock } from '../support/test-clock.ts';

const KEEP_TRYING_MS = 10_000;

/** A writer whose store fails as long as `trouble` says so. */
function writer() {
  const clock = new TestClock();
  const seen = { stored: [] as number[][], lost: [] as number[][], concluded: [] as number[][], calls: 0 };
  let trouble: (items: readonly number[]) => Error | null = () => null;
  const made = new RetryingWriter<number>(KEEP_TRYING_MS, {
    clock,
    store: async (items) => {
      seen.calls += 1;
      const error = trouble(items);
      if (error !== null) throw error;
      seen.stored.push([...items]);
    },
    onLost: (items) => seen.lost.push([...items]),
    conclude: async (items) => void seen.concluded.push([...items]),
  });
  const write = (item: number) => {
    const state = { done: false };
    void made.write(item).then(() => {
      state.done = true;
    });
    return state;
  };
  const setTrouble = (next: typeof trouble) => {
    trouble = next;
  };
  return { clock, seen, write, setTrouble };
}

/** As the driver gives it: no fault of a row. */
const away = () => Object.assign(new Error('the server is away'), { code: 'ECONNREFUSED' });
/** A fault of the row: `eachApart` finds it. */
const bad = () => Object.assign(new Error('bad row'), { code: '22P02' });

describe('RetryingWriter', () => {
  it('stores what waits at the same time in one call', async () => {
    const { clock, seen, write } = writer();
    const [one, two] = [write(1), write(2)];
    await clock.advance(0);
    assert.deepEqual(seen, { stored: [[1, 2]], lost: [], concluded: [[1, 2]], calls: 1 });
    assert.ok(one.done && two.done);
  });

  it('tries again half a second after a failure', async () => {
    const { clock, seen, write, setTrouble } = writer();
    setTrouble(away);
    const one = write(1);
    await clock.advance(499);
    assert.equal(seen.calls, 1);
    await clock.advance(1);
    assert.equal(seen.calls, 2);
    setTrouble(() => null);
    await clock.advance(500);
    assert.deepEqual(seen.stored, [[1]]);
    assert.ok(one.done);
  });

  it('gives an item up when its time is over, and goes on with those that came later', async () => {
    const { clock, seen, write, setTrouble } = writer();
    setTrouble(away);
    const first = write(1);
    await clock.advance(KEEP_TRYING_MS - 1);
    assert.deepEqual([seen.lost, first.done], [[], false]);
    const second = write(2);
    await clock.advance(1);
    assert.deepEqual([seen.lost, first.done], [[[1]], true]);
    setTrouble(() => null);
    await clock.advance(500);
    assert.deepEqual([seen.stored, second.done], [[[2]], true]);
  });

  it('loses a bad item alone, at once', async () => {
    const { clock, seen, write, setTrouble } = writer();
    setTrouble((items) => (items.includes(2) ? bad() : null));
    const states = [write(1), write(2), write(3)];
    await clock.advance(0);
    assert.deepEqual(seen.lost, [[2]]);
    assert.deepEqual(seen.stored.flat().toSorted(), [1, 3]);
    assert.ok(states.every(({ done }) => done));
    assert.equal(clock.timers, 0);
  });
});
