/** The loop of delivery leaks nothing, however long it runs. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorker } from '../../src/delivery/worker.ts';

test('turns that wait for slow answers leave no listeners on the stop signal', async () => {
  const { promise: manyTurns, resolve } = Promise.withResolvers<AbortSignal>();
  let turns = 0;
  const worker = startWorker(
    async (_cut, stopping) => {
      turns += 1;
      if (turns === 100) resolve(stopping);
      return { claimed: 1, concluded: sleep(50) };
    },
    () => assert.fail('no turn fails'),
  );
  const stopping = await manyTurns;
  assert.ok(getEventListeners(stopping, 'abort').length <= 3);
  await worker.stop();
  await worker.ended;
});
