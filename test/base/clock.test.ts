/** The clock of tests: it stands still until the test moves it, and rings each timer at its instant. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PATIENCE_MS } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import { isAClock } from './clock-contract.ts';

isAClock('the clock of tests', () => {
  const clock = new TestClock();
  return { clock, pass: (ms) => clock.advance(ms) };
});

it('the clock of tests rings each timer at its own instant, in their order, and what these set meanwhile', async () => {
  const clock = new TestClock();
  const startMs = clock.monotonicMs();
  const rung: [string, number][] = [];
  const note = (name: string) => rung.push([name, clock.monotonicMs() - startMs]);
  clock.after(20, () => note('b'));
  clock.after(10, () => {
    note('a');
    void Promise.resolve().then(() => clock.after(5, () => note('set by a')));
  });
  await clock.advance(20);
  assert.deepEqual(rung, [
    ['a', 10],
    ['set by a', 15],
    ['b', 20],
  ]);
});

it('a process that stands still gets its timers late, and an interval once', async () => {
  const clock = new TestClock();
  let rung = 0;
  const timer = clock.every(10, () => (rung += 1));
  await clock.stall(95);
  assert.equal(rung, 1);
  await clock.advance(9);
  assert.equal(rung, 1);
  await clock.advance(1);
  assert.equal(rung, 2);
  timer.cancel();
});

it('a step of the machine’s clock moves no deadline', async () => {
  const clock = new TestClock();
  const monotonicMs = clock.monotonicMs();
  const nowMs = clock.nowMs();
  clock.step(-3_600_000);
  assert.deepEqual([clock.monotonicMs() - monotonicMs, clock.nowMs() - nowMs], [0, -3_600_000]);
});

it('a wait for a timer that nothing sets fails, and says which timers are set', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = new TestClock();
  const [met, missed] = [clock.untilTimer(7), clock.untilTimer(8)];
  clock.after(7, () => {});
  t.mock.timers.tick(PATIENCE_MS);
  await met;
  await assert.rejects(missed, { message: 'waited 240 s for 1 timers of 8 ms; set are timers of [7] ms' });
});

it('a timer that sets itself again without a pause fails, where time would never pass', async () => {
  const clock = new TestClock();
  clock.every(0, () => {});
  await assert.rejects(clock.advance(1), /no time passed/);
});
