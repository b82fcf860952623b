/** The simulator has one clock for what persons send and for what became of messages: the database's (D39). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { formatReplyCallback, toReplyId } from '../../src/domain/message/reply.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { openSimulator } from '../../src/subjects/simulator/open.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { fakeClock } from '../support/faked-clock.ts';

const HOUR_MS = 3_600_000;

for (const [name, aheadMs] of [
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
] as const) {
  it(`tells statuses by the database's clock, which is an hour ${name}`, async () => {
    const store = await testDatabase();
    const { database, vault } = store;
    const storeClock = await fakeClock(store);
    await storeClock.set(Date.now() + aheadMs);
    const events: ChannelEvent[] = [];
    const { channel } = openSimulator(
      { database, vault, clock: machineClock },
      (some) => void events.push(...some),
    );
    after(() => channel.close());
    const sentAt = await databaseTime(database);
    assert.ok(Math.abs(sentAt.getTime() - Date.now() - aheadMs) < HOUR_MS / 2, 'the clock is faked');
    const reply = {
      ...{ replyId: toReplyId('1'), applicationId: toApplicationId(1), attempt: 1 },
      ...{ phone: toPhone('+573001234567'), callback: formatReplyCallback(toReplyId('1'), 1) },
      ...{ text: 'hola', buttons: [], readMessageId: null },
    };
    const result = await channel.sendReply(reply, new AbortController().signal);
    assert.equal(result.kind, 'accepted');
    await eventually('both statuses', async () => events.length === 2);
    for (const event of events) {
      assert.ok(event.kind === 'status');
      assert.ok(Math.abs(event.at.getTime() - sentAt.getTime()) < HOUR_MS / 2);
    }
  });
}
