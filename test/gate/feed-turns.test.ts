import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type PartnerId, toPartnerId } from '../../src/domain/partner/credential.ts';
import { OverloadError } from '../../src/ground/base/registration-failure.ts';
import { LONGEST_WAIT_MS } from '../../src/wire/gate/admission.ts';
import { FeedTurns } from '../../src/wire/gate/feed-turns.ts';
import { TestClock } from '../support/test-clock.ts';

const PARTNER = toPartnerId(1);
const OTHER = toPartnerId(2);

it('D37, D41: the pages of a partner are read one at a time, in order; those of other partners beside them', async () => {
  const clock = new TestClock();
  const turns = new FeedTurns(clock);
  const begun: string[] = [];
  const held = Promise.withResolvers<void>();
  const page = (partner: PartnerId, name: string, work: () => Promise<unknown> = async () => {}) =>
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
  const clock = new TestClock();
  const turns = new FeedTurns(clock);
  const held = Promise.withResolvers<void>();
  const first = turns.during(PARTNER, () => held.promise);
  const late: unknown[] = [];
  turns.during(PARTNER, async () => assert.fail('began')).catch((error) => late.push(error));
  await clock.advance(LONGEST_WAIT_MS - 1);
  assert.equal(late.length, 0);
  let isHeld = true;
  const next = turns.during(PARTNER, async () => assert.equal(isHeld, false));
  await clock.advance(1);
  assert.ok(late[0] instanceof OverloadError);
  isHeld = false;
  held.resolve();
  await Promise.all([first, next]);
});
