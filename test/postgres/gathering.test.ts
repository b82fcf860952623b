/** Items that wait for a lane go together, and no item waits for a timer. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Gathering } from '../../src/ground/postgres/gathering.ts';

/** Two lanes whose runs end when the test says so. */
function lanes() {
  const runs: { items: readonly string[]; end: () => void }[] = [];
  const gathering = new Gathering<string>({
    lanes: 2,
    maxWaiting: 3,
    take: (waiting) => waiting.splice(0),
    run: (items) => new Promise((end) => runs.push({ items, end })),
  });
  return { gathering, runs, taken: () => runs.map(({ items }) => items.join('')) };
}

test('items of one turn of the event loop go together, in one lane', async () => {
  const { gathering, taken } = lanes();
  for (const item of ['a', 'b', 'c']) assert.equal(gathering.add(item), true);
  await turn();
  assert.deepEqual(taken(), ['abc']);
  gathering.add('d');
  await turn();
  assert.deepEqual(taken(), ['abc', 'd']);
});

test('items that come while all lanes are busy go together, at once, in the first lane that is free', async () => {
  const { gathering, runs, taken } = lanes();
  for (const item of ['a', 'b']) {
    gathering.add(item);
    await turn();
  }
  assert.deepEqual(
    ['c', 'd', 'e', 'f'].map((item) => gathering.add(item)),
    [true, true, true, false],
  );
  await turn();
  assert.deepEqual(taken(), ['a', 'b']);
  runs[1]?.end();
  await Promise.resolve().then(() => Promise.resolve());
  assert.deepEqual(taken(), ['a', 'b', 'cde']);
});

test('items that are put back go first', async () => {
  const { gathering, runs, taken } = lanes();
  gathering.add('a');
  gathering.putBack(['b']);
  assert.deepEqual(taken(), ['ba']);
  await turn();
  assert.deepEqual(taken(), ['ba']);
  runs[0]?.end();
});

test('a run is in the context of its first item, also where its lane is never idle', async () => {
  const context = new AsyncLocalStorage<string>();
  const runs: { context: string | undefined; end: () => void }[] = [];
  const gathering = new Gathering<string>({
    lanes: 1,
    maxWaiting: 3,
    take: (waiting) => waiting.splice(0, 1),
    run: () => new Promise((end) => runs.push({ context: context.getStore(), end })),
  });
  for (const item of ['a', 'b', 'c']) context.run(item, () => gathering.add(item));
  for (const index of [0, 1, 2]) {
    await turn();
    runs[index]?.end();
  }
  assert.deepEqual(
    runs.map((run) => run.context),
    ['a', 'b', 'c'],
  );
});
