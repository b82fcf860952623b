/** The loop of delivery: its rests, that it leaks nothing however long it runs, and that it tells whether it runs. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { Bell } from '../../src/ground/base/bell.ts';
import { startSending } from '../../src/subjects/messages/delivery/sending.ts';
import { TestClock } from '../support/test-clock.ts';

const onError = () => assert.fail('no turn fails');

test('turns that wait for slow answers leave no listeners on the stop signal', async () => {
  const clock = new TestClock();
  let turns = 0;
  let signal: AbortSignal | undefined;
  const worker = startSending({
    clock,
    turn: async (_cut, stopping) => {
      turns += 1;
      signal = stopping;
      return { claimed: 1, concluded: clock.sleep(50) };
    },
    onError,
  });
  await clock.advance(100 * 50);
  assert.ok(turns >= 100);
  assert.ok(signal !== undefined && getEventListeners(signal, 'abort').length <= 3);
  const stopped = worker.stop();
  await clock.advance(50);
  await stopped;
  await worker.ended;
});

test('eight turns wait for answers at most: the next one begins when one of them has its answers', async () => {
  const clock = new TestClock();
  const answers: (() => void)[] = [];
  const worker = startSending({
    clock,
    turn: async () => ({ claimed: 1, concluded: new Promise((resolve) => answers.push(resolve)) }),
    onError,
  });
  await clock.advance(60_000);
  assert.equal(answers.length, 8);
  answers[3]!();
  await clock.advance(0);
  assert.equal(answers.length, 9);
  await worker.stop();
  for (const answer of answers) answer();
  await worker.ended;
});

test('the rest after a turn grows with the square of its length, up to a quarter of a second', async () => {
  for (const [tookMs, restMs] of [
    [15, 7.5],
    [30, 30],
    [60, 120],
    [90, 250],
    [9_000, 250],
  ] as const) {
    const clock = new TestClock();
    let turns = 0;
    const worker = startSending({
      clock,
      turn: async () => {
        turns += 1;
        await clock.sleep(tookMs);
        return { claimed: 1, concluded: Promise.resolve() };
      },
      onError,
    });
    await clock.advance(tookMs + restMs - 0.5);
    assert.equal(turns, 1, `after ${tookMs} ms`);
    await clock.advance(0.5);
    assert.equal(turns, 2, `after ${tookMs} ms`);
    const stopped = worker.stop();
    await clock.advance(tookMs);
    await stopped;
  }
});

test('a turn that found nothing is followed by half a second of rest, which a ring ends', async () => {
  const clock = new TestClock();
  const bell = new Bell();
  let turns = 0;
  const worker = startSending({
    clock,
    turn: async () => {
      turns += 1;
      return { claimed: 0, concluded: Promise.resolve() };
    },
    onError,
    bell,
  });
  await clock.advance(499);
  assert.equal(turns, 1);
  await clock.advance(1);
  assert.equal(turns, 2);
  bell.ring();
  await clock.advance(0);
  assert.equal(turns, 3);
  await worker.stop();
  await worker.ended;
});

test('the loop tells when its last turn began: a turn that hangs does not renew this time', async () => {
  const clock = new TestClock();
  const hanging = Promise.withResolvers<void>();
  let turns = 0;
  const worker = startSending({
    clock,
    turn: async () => {
      turns += 1;
      if (turns === 3) await hanging.promise;
      return { claimed: 0, concluded: Promise.resolve() };
    },
    onError,
  });
  const startMs = worker.lastTurnMs();
  await clock.advance(1_000);
  assert.equal(turns, 3);
  assert.equal(worker.lastTurnMs(), startMs + 1_000);
  await clock.advance(60_000);
  assert.equal(worker.lastTurnMs(), startMs + 1_000);
  hanging.resolve();
  await clock.advance(500);
  assert.equal(worker.lastTurnMs(), startMs + 61_500);
  await worker.stop();
});
