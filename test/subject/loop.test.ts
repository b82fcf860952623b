/** A loop: its turns, the rest after a failure, and the cut after a stop. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startLoop } from '../../src/program/subject/loop.ts';
import { TestClock } from '../support/test-clock.ts';

it('rests for two seconds after a turn that failed, and tells when its last turn began', async () => {
  const clock = new TestClock();
  const begunMs = clock.monotonicMs();
  const errors: unknown[] = [];
  let turns = 0;
  const loop = startLoop({
    clock,
    turn: async ({ pause }) => {
      turns += 1;
      if (turns === 1) throw new Error('on purpose');
      await pause(500);
    },
    onError: (error) => errors.push(error),
    settled: async () => {},
  });
  await clock.advance(1_999);
  assert.deepEqual([turns, errors.length, loop.lastTurnMs() - begunMs], [1, 1, 0]);
  await clock.advance(1);
  assert.deepEqual([turns, errors.length, loop.lastTurnMs() - begunMs], [2, 1, 2_000]);
  await clock.advance(500);
  assert.deepEqual([turns, loop.lastTurnMs() - begunMs], [3, 2_500]);
  // A pause ends at the stop, and no turn follows.
  await loop.stop();
  await loop.ended;
  assert.equal(turns, 3);
});

it('work that is under way four seconds after the stop is cut off', async () => {
  const clock = new TestClock();
  const work = Promise.withResolvers<void>();
  let isCut = false;
  const loop = startLoop({
    clock,
    turn: async ({ cut, pause }) => {
      cut.addEventListener('abort', () => {
        isCut = true;
        work.resolve();
      });
      await pause(60_000);
    },
    onError: assert.fail,
    settled: () => work.promise,
  });
  await clock.advance(10);
  await loop.stop();
  await clock.advance(3_999);
  assert.equal(isCut, false);
  await clock.advance(1);
  assert.equal(isCut, true);
  await loop.ended;
});

it('a turn that fails after the stop is told to nobody', async () => {
  const clock = new TestClock();
  const turn = Promise.withResolvers<void>();
  const loop = startLoop({ clock, turn: () => turn.promise, onError: assert.fail, settled: async () => {} });
  const stopped = loop.stop();
  turn.reject(new Error('its session ended'));
  await stopped;
});
