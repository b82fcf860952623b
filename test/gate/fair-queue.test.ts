import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../../src/wire/gate/fair-queue.ts';

interface Item {
  readonly owner: number;
  readonly cost: number;
  readonly serial: number;
}

const cost = fc.integer({ min: 1, max: 105 });
const owner = fc.integer({ min: 1, max: 5 });
const arrivals = fc.array(fc.record({ owner, cost }), { maxLength: 200 });

function filled(entries: readonly { owner: number; cost: number }[]) {
  const queue = new FairQueue<Item>();
  const items = entries.map((entry, serial) => ({ ...entry, serial }));
  for (const item of items) queue.add(item.owner, item.cost, item);
  return { queue, items };
}

function drain(queue: FairQueue<Item>): Item[] {
  const taken: Item[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

describe('D37: partners take turns', () => {
  it('while it has items waiting, each owner has the same share by cost, up to one item', () => {
    fc.assert(
      fc.property(arrivals, (entries) => {
        const { queue, items } = filled(entries);
        const left = new Map<number, number>();
        for (const item of items) left.set(item.owner, (left.get(item.owner) ?? 0) + 1);
        const served = new Map([...left.keys()].map((key) => [key, 0]));
        const largest = new Map<number, number>();
        for (const item of items) largest.set(item.owner, Math.max(largest.get(item.owner) ?? 0, item.cost));
        for (let item = queue.take(); item !== undefined; item = queue.take()) {
          left.set(item.owner, (left.get(item.owner) as number) - 1);
          served.set(item.owner, (served.get(item.owner) as number) + item.cost);
          const waiting = [...left].filter(([, count]) => count > 0).map(([key]) => key);
          for (const one of waiting) {
            for (const other of waiting) {
              const lead = (served.get(one) as number) - (served.get(other) as number);
              assert.ok(lead <= (largest.get(one) as number) + (largest.get(other) as number));
            }
          }
        }
      }),
    );
  });

  it('a new owner waits for at most one item of each other owner', () => {
    fc.assert(
      fc.property(arrivals, fc.nat(150), cost, (entries, takes, newCost) => {
        const { queue } = filled(entries);
        for (let index = 0; index < takes; index += 1) queue.take();
        const newcomer = { owner: 99, cost: newCost, serial: -1 };
        queue.add(newcomer.owner, newcomer.cost, newcomer);
        const before = drain(queue);
        const owners = before.slice(0, before.indexOf(newcomer)).map((item) => item.owner);
        assert.equal(new Set(owners).size, owners.length);
      }),
    );
  });

  it('an owner saves up no turns while it has no items', () => {
    const queue = new FairQueue<number>();
    for (let index = 0; index < 100; index += 1) queue.add(1, 100, 1);
    queue.add(2, 100, 2);
    for (let index = 0; index < 50; index += 1) queue.take();
    for (let index = 0; index < 10; index += 1) queue.add(2, 100, 2);
    const next = Array.from({ length: 20 }, () => queue.take());
    assert.equal(next.filter((owner) => owner === 2).length, 10);
    for (let index = 2; index < 20; index += 1)
      assert.notDeepEqual(next.slice(index - 2, index + 1), [2, 2, 2]);
  });

  it('no item is lost or doubled, and each owner’s items keep their order, also when items are taken out', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ owner, cost }) },
      { weight: 2, arbitrary: fc.constant('take') },
      { arbitrary: fc.record({ newestOf: owner, keep: fc.nat(5) }), weight: 1 },
      { arbitrary: fc.record({ oldestUpTo: fc.nat(100) }), weight: 1 },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new FairQueue<Item>();
        let waiting: Item[] = [];
        const remove = (items: readonly Item[]) => {
          waiting = waiting.filter((item) => !items.includes(item));
        };
        for (const [serial, action] of steps.entries()) {
          if (action === 'take') {
            const item = queue.take();
            const first = waiting.find((candidate) => candidate.owner === item?.owner);
            assert.equal(item, first);
            if (item !== undefined) remove([item]);
          } else if (typeof action === 'string') assert.fail(action);
          else if ('newestOf' in action) {
            const own = waiting.filter((item) => item.owner === action.newestOf);
            let left = own.length;
            const taken = queue.takeNewestWhile((key) => key === action.newestOf && left-- > action.keep);
            assert.deepEqual(taken, own.slice(action.keep).reverse());
            remove(taken);
          } else if ('oldestUpTo' in action) {
            const taken = queue.takeOldestWhile((item) => item.serial <= action.oldestUpTo);
            assert.equal(taken.length, waiting.filter((item) => item.serial <= action.oldestUpTo).length);
            remove(taken);
          } else {
            const item = { ...action, serial };
            queue.add(item.owner, item.cost, item);
            waiting.push(item);
          }
          assert.equal(
            queue.waiting,
            waiting.reduce((sum, item) => sum + item.cost, 0),
          );
        }
        assert.equal(drain(queue).length, waiting.length);
        assert.equal(queue.take(), undefined);
      }),
    );
  });

  it('the cost served before an owner’s last item is at most the foretold cost, up to one item of each owner', () => {
    fc.assert(
      fc.property(arrivals, owner, cost, (entries, who, more) => {
        const { queue } = filled(entries);
        const said = queue.ahead(who, more);
        const last = { owner: who, cost: more, serial: -1 };
        queue.add(who, more, last);
        const order = drain(queue);
        const before = order.slice(0, order.indexOf(last) + 1);
        const slack = 5 * 105;
        assert.ok(before.reduce((sum, item) => sum + item.cost, 0) <= said + slack);
      }),
    );
  });
});
