/** The loop of delivery leaks nothing, however long it runs, and tells whether it runs. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineClock } from '../../src/base/clock.ts';
import { startWorker } from '../../src/messages/delivery/worker.ts';

test('turns that wait for slow answers leave no listeners on the stop signal', async () => {
  const { promise: manyTurns, resolve } = Promise.withResolvers<AbortSignal>();
  let turns = 0;
  const worker = startWorker({
    clock: machineClock,
    turn: async (_cut, stopping) => {
      turns += 1;
      if (turns === 100) resolve(stopping);
      return { claimed: 1, concluded: sleep(50) };
    },
    onError: () => assert.fail('no turn fails'),
  });
  const stopping = await manyTurns;
  assert.ok(getEventListeners(stopping, 'abort').length <= 3);
  await worker.stop();
  await worker.ended;
});

test('the loop tells when its last turn began: a turn that hangs does not renew this time', async () => {
  const hanging = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let turns = 0;
  const worker = startWorker({
    clock: machineClock,
    turn: async () => {
      turns += 1;
      if (turns === 3) {
        hanging.resolve();
        await released.promise;
      }
      return { claimed: 1, concluded: Promise.resolve() };
    },
    onError: () => assert.fail('no turn fails'),
  });
  const startMs = worker.lastTurnMs();
  await hanging.promise;
  const hungMs = worker.lastTurnMs();
  assert.ok(hungMs >= startMs);
  await sleep(50);
  assert.equal(worker.lastTurnMs(), hungMs);
  released.resolve();
  while (worker.lastTurnMs() === hungMs) await sleep(5);
  await worker.stop();
});
