/** D37: a connection over the limit is told, however many there are. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { TURNED_AWAY, TurnedAway } from '../../src/wire/gate/turned-away.ts';
import { TestClock } from '../support/test-clock.ts';

function start() {
  const clock = new TestClock();
  const turnedAway = new TurnedAway(clock);
  const done: string[] = [];
  const add = (name: string) => {
    const socket = {
      destroyed: false,
      on: () => {},
      pause: () => {},
      end: (bytes: Buffer) => void (bytes === TURNED_AWAY && done.push(`${name} told`)),
      destroy() {
        this.destroyed = true;
        done.push(`${name} closed`);
      },
    };
    turnedAway.add(socket as unknown as Socket);
  };
  return {
    turnedAway,
    done,
    add,
    pass: (ms: number) => clock.advance(ms),
  };
}

it('a connection is told after a moment and closed after another', async () => {
  const { done, add, pass } = start();
  add('a');
  await pass(650);
  assert.deepEqual(done, []);
  await pass(50);
  assert.deepEqual(done, ['a told']);
  await pass(950);
  assert.deepEqual(done, ['a told']);
  await pass(50);
  assert.deepEqual(done, ['a told', 'a closed']);
});

it('of too many at once the oldest are told at once, and none is closed before it is told', () => {
  const { done, add } = start();
  const count = 20_000;
  for (let n = 0; n < count; n += 1) add(`${n}`);
  const told = done.filter((what) => what.endsWith('told'));
  const closed = done.filter((what) => what.endsWith('closed'));
  assert.equal(told.length, count - 5_120);
  assert.equal(told.length - closed.length, 3_072);
  assert.deepEqual(told.slice(0, 2), ['0 told', '1 told']);
  for (const [index, what] of closed.entries()) {
    assert.equal(what, `${index} closed`);
    assert.ok(done.indexOf(`${index} told`) < done.indexOf(what));
  }
});

it('all are told when the listener closes', () => {
  const { turnedAway, done, add } = start();
  for (let n = 0; n < 100; n += 1) add(`${n}`);
  turnedAway.end();
  assert.equal(done.filter((what) => what.endsWith('told')).length, 100);
});
