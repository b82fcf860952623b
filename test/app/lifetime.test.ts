/** The steps of a stop: each has its time, and the process ends well where all ended by the time of the last one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { stopInOrder } from '../../src/app/lifetime.ts';
import { machineClock } from '../../src/base/clock.ts';

function logged() {
  const lines: { step: string; problem: unknown }[] = [];
  return { lines, log: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

describe('stopInOrder', () => {
  it('runs the steps one after the other', async () => {
    const { log, lines } = logged();
    const order: string[] = [];
    const step = (name: string) => ({
      name,
      byMs: 60_000,
      run: async () => {
        order.push(`${name} begins`);
        await sleep(5);
        order.push(`${name} ends`);
      },
    });
    assert.equal(await stopInOrder(log, machineClock, performance.now(), [step('a'), step('b')]), true);
    assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends']);
    assert.deepEqual(lines, []);
  });

  it('a step that takes longer than its time goes on beside the next one, and has ended well by the last time', async () => {
    const { log, lines } = logged();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const steps = [
      { name: 'sending', byMs: 1, run: () => ended },
      { name: 'last', byMs: 60_000, run: async () => end() },
    ];
    assert.equal(await stopInOrder(log, machineClock, performance.now(), steps), true);
    assert.deepEqual(lines, []);
  });

  it('each step runs, also where the time was over before', async () => {
    const { log, lines } = logged();
    const steps = ['a', 'b', 'c'].map((name) => ({ name, byMs: 1, run: () => sleep(1) }));
    assert.equal(await stopInOrder(log, machineClock, performance.now() - 60_000, steps), true);
    assert.deepEqual(lines, []);
  });

  it('a step that fails or never ends is named, and the others run', async () => {
    const { log, lines } = logged();
    let ran = false;
    const steps = [
      { name: 'fails', byMs: 1, run: () => Promise.reject(new RangeError('Ana')) },
      { name: 'hangs', byMs: 2, run: () => new Promise(() => {}) },
      {
        name: 'last',
        byMs: 3,
        run: async () => {
          ran = true;
        },
      },
    ];
    assert.equal(await stopInOrder(log, machineClock, performance.now(), steps), false);
    assert.equal(ran, true);
    assert.deepEqual(
      lines.map(({ step }) => step),
      ['fails', 'hangs'],
    );
    assert.doesNotMatch(JSON.stringify(lines), /Ana/);
  });
});
