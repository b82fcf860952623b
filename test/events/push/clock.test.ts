/** Pushes while the database's clock steps and leaps (D39, D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../../src/domain/partner/credential.ts';
import { Elapsed } from '../../../src/ground/postgres/elapsed.ts';
import { makeSigningSecret } from '../../../src/subjects/events/push/http/sign.ts';
import { type ClaimedPush, claimPushes } from '../../../src/subjects/events/push/sql/claim.ts';
import { readEndpoint, rotateSecret } from '../../../src/subjects/events/push/sql/endpoints.ts';
import { mendPushes } from '../../../src/subjects/events/push/sql/queue.ts';
import { recordPushes } from '../../../src/subjects/events/push/sql/record.ts';
import { testDatabase } from '../../support/database.ts';
import { fakeClock } from '../../support/faked-clock.ts';
import { addEvents, queueOf, setEndpoint } from '../../support/pushes.ts';
import { addPartner } from '../../support/service.ts';

// No service, because its upkeep would interfere.
const store = await testDatabase();
const { database, vault } = store;
const clock = await fakeClock(store);
const START = Date.parse('2026-11-22T12:00:00Z');
/** How long other processes leave a push alone that was claimed. */
const LEASE = 30_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
let stopwatchMs = 0;
const elapsed = new Elapsed({ monotonicMs: () => stopwatchMs });

async function newPartner(): Promise<PartnerId> {
  const { partnerId } = await addPartner(store);
  await setEndpoint(store, partnerId, { url: 'https://partner.example/', host: '' });
  return partnerId;
}

async function claim(partnerId: PartnerId): Promise<ClaimedPush[]> {
  const { claimed } = await claimPushes(database, []);
  return claimed.filter((push) => push.partnerId === partnerId);
}

const fail = (push: ClaimedPush, waitMs: number) =>
  recordPushes(database, [{ ...push, result: 'failed', failure: 'timeout', waitMs }]);

/** The database's clock and the stopwatch of the process, in milliseconds since the start. */
async function setClocks(databaseMs: number, ownMs: number): Promise<void> {
  await clock.set(START + databaseMs);
  stopwatchMs = ownMs;
  await elapsed.advance(database);
}

describe('a clock that was ahead', () => {
  it('D39: no push waits for the time that it left behind; a wait that was asked for begins again', async () => {
    await clock.set(START);
    const partnerId = await newPartner();
    await clock.set(START + 365 * DAY);
    await addEvents(store, partnerId, [1, 2, 3]);
    const pushes = (await claim(partnerId)).sort((a, b) => a.number - b.number);
    await fail(pushes[0]!, MINUTE);
    await clock.set(START);
    await addEvents(store, partnerId, [4]);
    // One is leased, one waits for its retry; the third was queued and never claimed.
    await database.query('UPDATE pushes SET leased_until = NULL WHERE partner_id = $1 AND number = 3', [
      partnerId,
    ]);
    await mendPushes(database);
    const queue = await queueOf(store, partnerId);
    assert.deepEqual(
      queue.map(({ number, dueInS }) => [number, dueInS]),
      [
        [1, 60],
        [2, 0],
        [3, 0],
        [4, 0],
      ],
    );
    assert.deepEqual((await claim(partnerId)).map(({ number }) => number).sort(), [3, 4]);
    // Push 2 has its whole lease again, as 3 and 4 have theirs, and push 1 its whole wait.
    for (const [at, due] of [
      [LEASE - 1, []],
      [LEASE, [2, 3, 4]],
      [MINUTE - 1, []],
      [MINUTE, [1, 2, 3, 4]],
    ] as const) {
      await clock.set(START + at);
      assert.deepEqual((await claim(partnerId)).map(({ number }) => number).sort(), due, `${at} ms`);
    }
  });

  it('D39: a broken endpoint gets its probe in spite of the time that it left behind', async () => {
    await clock.set(START + 365 * DAY);
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2, 3, 4, 5, 6]);
    for (const push of (await claim(partnerId)).slice(0, 5)) await fail(push, MINUTE);
    await clock.set(START);
    await mendPushes(database);
    assert.equal((await claim(partnerId)).length, 1);
  });
});

describe('a clock that leaps ahead', () => {
  it('D39, D41: gives no push up, disables no endpoint and ends no overlap before three days, or one, have passed', async () => {
    await setClocks(0, 0);
    await setClocks(1_000, 1_000);
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1]);
    const [first] = await claim(partnerId);
    await fail(first!, 0);
    await rotateSecret(database, vault, partnerId, makeSigningSecret());
    const failAgain = async () => fail((await claim(partnerId))[0]!, 0);
    const overlapMs = async () => (await readEndpoint(database, vault, partnerId))?.overlapMs;
    // The time that really passes, in more turns of the upkeep than a test can make.
    const pass = (ms: number) => database.query('UPDATE elapsed SET ms = ms + $1', [ms]);
    await setClocks(400 * DAY, 2_000);
    assert.deepEqual(await failAgain(), []);
    assert.equal(await overlapMs(), DAY - 1_000);
    await pass(DAY - 1_001);
    assert.equal(await overlapMs(), 1);
    await pass(1);
    assert.equal(await overlapMs(), 0);
    await pass(2 * DAY - 1);
    assert.deepEqual(await failAgain(), []);
    await pass(1);
    assert.deepEqual(await failAgain(), [
      { partnerId, change: 'disabled', reason: 'no_success', givenUp: 1 },
    ]);
  });
});
