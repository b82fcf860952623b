/** The steps of a stop: each has its time, and the process ends well where all ended by the time of the last one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pino from 'pino';
import { stopInOrder } from '../../src/app/lifetime.ts';
import { TestClock } from '../support/test-clock.ts';

/** `stop` runs steps whose signal came `agoMs` ago. */
function stopping() {
  const clock = new TestClock();
  const lines: { step: string; problem: unknown }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const order: string[] = [];
  const stop = (steps: Parameters<typeof stopInOrder>[3], agoMs = 0) =>
    stopInOrder(log, clock, clock.monotonicMs() - agoMs, steps);
  /** A step that takes so long. */
  const step = (name: string, byMs: number, takesMs: number) => ({
    name,
    byMs,
    run: async () => {
      order.push(`${name} begins`);
      await clock.sleep(takesMs);
      order.push(`${name} ends`);
    },
  });
  return { clock, lines, order, stop, step };
}

describe('stopInOrder', () => {
  it('runs the steps one after the other', async () => {
    const { clock, lines, order, stop, step } = stopping();
    const stopped = stop([step('a', 60_000, 5), step('b', 60_000, 5)]);
    await clock.advance(10);
    assert.equal(await stopped, true);
    assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends']);
    assert.deepEqual([lines, clock.timers], [[], 0]);
  });

  it('a step that takes longer than its time goes on beside the next one, and has ended well by the last time', async () => {
    const { clock, lines, order, stop, step } = stopping();
    const stopped = stop([step('sending', 800, 2_000), step('last', 2_000, 1)]);
    await clock.advance(799);
    assert.deepEqual(order, ['sending begins']);
    await clock.advance(1);
    assert.deepEqual(order, ['sending begins', 'last begins']);
    await clock.advance(1_200);
    assert.equal(await stopped, true);
    assert.deepEqual(lines, []);
  });

  it('a step that ends after the last time has not stopped cleanly', async () => {
    const { clock, lines, stop, step } = stopping();
    const stopped = stop([step('sending', 800, 2_001), step('last', 2_000, 1)]);
    await clock.advance(2_000);
    assert.equal(await stopped, false);
    assert.deepEqual(
      lines.map(({ step, problem }) => [step, problem]),
      [['sending', 'out of time']],
    );
  });

  it('each step has a quarter of a second, also where the time was over before', async () => {
    const { clock, lines, order, stop, step } = stopping();
    const stopped = stop(
      ['a', 'b'].map((name) => step(name, 1, 300)),
      60_000,
    );
    await clock.advance(249);
    assert.deepEqual(order, ['a begins']);
    await clock.advance(1);
    assert.deepEqual(order, ['a begins', 'b begins']);
    await clock.advance(250);
    assert.equal(await stopped, false);
    assert.deepEqual(
      lines.map(({ step }) => step),
      ['b'],
    );
  });

  it('a step that fails or never ends is named, and the others run', async () => {
    const { clock, lines, order, stop, step } = stopping();
    const stopped = stop([
      { name: 'fails', byMs: 1, run: () => Promise.reject(new RangeError('Ana')) },
      { name: 'hangs', byMs: 2, run: () => new Promise(() => {}) },
      step('last', 3, 0),
    ]);
    await clock.advance(500);
    assert.equal(await stopped, false);
    assert.deepEqual(order, ['last begins', 'last ends']);
    assert.deepEqual(
      lines.map(({ step }) => step),
      ['fails', 'hangs'],
    );
    assert.doesNotMatch(JSON.stringify(lines), /Ana/);
  });
});
