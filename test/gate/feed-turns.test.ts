import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OverloadError } from '../../src/base/registration-failure.ts';
import { FeedTurns } from '../../src/gate/feed-turns.ts';
import { type PartnerId, toPartnerId } from '../../src/partners/rules/credential.ts';

const PARTNER = toPartnerId(1);
const OTHER = toPartnerId(2);

it('D37, D41: the pages of a partner are read one at a time, in order; those of other partners beside them', async () => {
  const turns = new FeedTurns();
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  const page = (partner: PartnerId, name: string, work: () => Promise<unknown> = () => sleep(1)) =>
    turns.during(partner, async () => {
      begun.push(name);
      await work();
      return name;
    });
  const first = page(PARTNER, 'a', () => held.promise);
  const second = page(PARTNER, 'b', () => Promise.reject(new Error('fails')));
  const third = page(PARTNER, 'c');
  assert.equal(await page(OTHER, 'other'), 'other');
  assert.deepEqual(begun, ['a', 'other']);
  held.resolve();
  await assert.rejects(second, /fails/);
  assert.deepEqual(await Promise.all([first, third]), ['a', 'c']);
  assert.deepEqual(begun, ['a', 'other', 'b', 'c']);
});

it('D37: a page that would wait too long is refused, and the pages after it still wait for those before it', async () => {
  const turns = new FeedTurns();
  const held = Promise.withResolvers<void>();
  const first = turns.during(PARTNER, () => held.promise);
  await assert.rejects(
    turns.during(PARTNER, async () => assert.fail('began'), 1),
    OverloadError,
  );
  let isHeld = true;
  const next = turns.during(PARTNER, async () => assert.equal(isHeld, false), 60_000);
  await sleep(5);
  isHeld = false;
  held.resolve();
  await Promise.all([first, next]);
});
