/** The clock of tests rings, aborts and refuses as the machine's clock does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Clock, machineClock } from '../../src/base/clock.ts';
import { TestClock } from '../support/test-clock.ts';

const CLOCKS: [what: string, make: () => { clock: Clock; pass: (ms: number) => Promise<void> }][] = [
  ['the machine’s clock', () => ({ clock: machineClock, pass: (ms) => machineClock.sleep(ms + 5) })],
  [
    'the clock of tests',
    () => {
      const clock = new TestClock();
      return { clock, pass: (ms) => clock.advance(ms) };
    },
  ],
];

for (const [what, make] of CLOCKS) {
  describe(what, () => {
    it('rings once, again and again, or not at all', async () => {
      const { clock, pass } = make();
      const rung: string[] = [];
      clock.after(1, () => rung.push('once'));
      clock.after(1, () => rung.push('cancelled')).cancel();
      const again = clock.every(1, () => {
        rung.push('again');
        if (rung.filter((one) => one === 'again').length === 2) again.cancel();
      });
      while (rung.length < 3) await pass(1);
      await pass(3);
      assert.deepEqual(rung.toSorted(), ['again', 'again', 'once']);
      again.cancel();
    });

    it('sleeps until the signal aborts', async () => {
      const { clock } = make();
      const stop = new AbortController();
      const slept = clock.sleep(3_600_000, { signal: stop.signal });
      stop.abort(new Error('enough'));
      const isAbort = (error: unknown) => {
        const { name, code, cause } = error as Error & { code: string };
        return name === 'AbortError' && code === 'ABORT_ERR' && (cause as Error).message === 'enough';
      };
      await assert.rejects(slept, isAbort);
      await assert.rejects(clock.sleep(1, { signal: stop.signal }), isAbort);
    });

    it('aborts a signal after its time, with a TimeoutError', async () => {
      const { clock, pass } = make();
      const signal = clock.timeout(1);
      while (!signal.aborted) await pass(1);
      assert.equal(signal.reason.name, 'TimeoutError');
    });

    it('counts on', async () => {
      const { clock, pass } = make();
      const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
      await pass(2);
      assert.ok(clock.monotonicMs() - monotonicMs >= 2);
      assert.ok(clock.nowMs() > nowMs);
    });
  });
}

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
