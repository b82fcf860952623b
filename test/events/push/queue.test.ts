/** The queue of pushes in the database (D41): who gets what when, and what the results make of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartnerId } from '../../../src/domain/partner/credential.ts';
import { type ClaimedPush, claimPushes, MOST_UNDERWAY } from '../../../src/subjects/events/push/sql/claim.ts';
import { dropPushes, resendEvents } from '../../../src/subjects/events/push/sql/queue.ts';
import {
  type EndpointChange,
  type PushRecord,
  recordPushes,
} from '../../../src/subjects/events/push/sql/record.ts';
import { testDatabase } from '../../support/database.ts';
import { addEvents, endWaits, queueOf, setEndpoint } from '../../support/pushes.ts';
import { addPartner } from '../../support/service.ts';

const store = await testDatabase();
const { database } = store;
const PEER = { url: 'https://partner.example/events', host: '' };
const THREE_DAYS_MS = 3 * 86_400_000;

async function newPartner(): Promise<PartnerId> {
  const { partnerId } = await addPartner(store);
  await setEndpoint(store, partnerId, PEER);
  return partnerId;
}

/** Claims as one process; only pushes of this partner. */
async function claim(partnerId: PartnerId, underway = 0): Promise<ClaimedPush[]> {
  const { claimed } = await claimPushes(database, Array(underway).fill(partnerId));
  return claimed.filter((push) => push.partnerId === partnerId).sort((a, b) => a.number - b.number);
}

const numbersOf = (pushes: readonly { number: number }[]) => pushes.map(({ number }) => number);

function record(
  pushes: readonly ClaimedPush[],
  result: PushRecord['result'],
  waitMs = 60_000,
): Promise<EndpointChange[]> {
  const failure = result === 'failed' || result === 'gone' ? 'status_500' : null;
  return recordPushes(
    database,
    pushes.map((push) => ({ ...push, result, failure, waitMs })),
  );
}

async function endpointOf(partnerId: PartnerId) {
  const { rows } = await database.query('SELECT * FROM partner_endpoints WHERE partner_id = $1', [partnerId]);
  return rows[0];
}

/** Lets this much elapsed time pass for the queue and the endpoints. */
async function letPass(ms: number): Promise<void> {
  await database.query('UPDATE pushes SET queued_ms = queued_ms - $1', [ms]);
  await database.query('UPDATE partner_endpoints SET failing_ms = failing_ms - $1', [ms]);
}

describe('the claim', () => {
  it('D41: events of a partner without an endpoint, or with a disabled one, are not queued', async () => {
    const { partnerId } = await addPartner(store);
    await addEvents(store, partnerId, [1]);
    await setEndpoint(store, partnerId, PEER);
    await addEvents(store, partnerId, [2]);
    await database.query('UPDATE partner_endpoints SET disabled_at = now() WHERE partner_id = $1', [
      partnerId,
    ]);
    await addEvents(store, partnerId, [3]);
    assert.deepEqual(numbersOf(await queueOf(store, partnerId)), [2]);
    assert.deepEqual(await claim(partnerId), []);
  });

  it('D41: an event waits for the earlier events of its application, and for no other application', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [7, 8, 7, 7, 9, 8]);
    const first = await claim(partnerId);
    assert.deepEqual(numbersOf(first), [1, 2, 5]);
    assert.deepEqual(await claim(partnerId), []);
    await record(first.slice(0, 1), 'failed');
    await record(first.slice(1, 2), 'delivered');
    const second = await claim(partnerId);
    assert.deepEqual(numbersOf(second), [6]);
    await endWaits(store);
    const third = await claim(partnerId);
    assert.deepEqual(third, [{ partnerId, number: 1, attempt: 2, version: 1 }]);
    await record(third, 'delivered');
    assert.deepEqual(numbersOf(await claim(partnerId)), [3]);
  });

  it('D41: a process gets at most 16 a partner together with those that it has under way', async () => {
    const partnerId = await newPartner();
    await addEvents(
      store,
      partnerId,
      Array.from({ length: 50 }, (_, n) => n),
    );
    assert.equal((await claim(partnerId)).length, MOST_UNDERWAY);
    assert.equal((await claim(partnerId, 10)).length, MOST_UNDERWAY - 10);
    assert.equal((await claim(partnerId, MOST_UNDERWAY)).length, 0);
  });

  it('D41: a turn takes about 100, of the partners with the fewest under way first', async () => {
    const busy = await Promise.all(Array.from({ length: 12 }, newPartner));
    for (const partnerId of busy)
      await addEvents(
        store,
        partnerId,
        Array.from({ length: 40 }, (_, n) => n),
      );
    const quiet = await newPartner();
    await addEvents(store, quiet, [1]);
    const { claimed } = await claimPushes(database, [...busy, ...busy]);
    assert.ok(claimed.some(({ partnerId }) => partnerId === quiet));
    assert.ok(claimed.length >= 100 && claimed.length < 100 + MOST_UNDERWAY, `${claimed.length}`);
    await database.query('DELETE FROM pushes');
  });

  it('D41: processes that claim at the same moment never get the same push', async () => {
    const partnerId = await newPartner();
    await addEvents(
      store,
      partnerId,
      Array.from({ length: 60 }, (_, n) => n),
    );
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(partnerId)));
    const numbers = numbersOf(claims.flat());
    assert.equal(new Set(numbers).size, numbers.length);
    assert.ok(numbers.length >= MOST_UNDERWAY);
  });

  it('D41: a push is taken again when its lease ends, and the late result of the first attempt changes nothing', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 1]);
    const first = await claim(partnerId);
    assert.deepEqual(await claim(partnerId), []);
    await database.query(
      "UPDATE pushes SET leased_until = now() - interval '1 second' WHERE partner_id = $1",
      [partnerId],
    );
    const second = await claim(partnerId);
    assert.deepEqual(second, [{ partnerId, number: 1, attempt: 2, version: 1 }]);
    await record(first, 'delivered');
    assert.deepEqual(numbersOf(await queueOf(store, partnerId)), [1, 2]);
    assert.deepEqual(await claim(partnerId), []);
    await record(second, 'delivered');
    assert.deepEqual(numbersOf(await claim(partnerId)), [2]);
  });

  it('D41: a push that was taken for weeks without a result does not end the claims of all partners', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1]);
    await database.query('UPDATE pushes SET attempts = 32767 WHERE partner_id = $1', [partnerId]);
    const taken = await claim(partnerId);
    assert.deepEqual(numbersOf(taken), [1]);
    await record(taken, 'delivered');
    assert.deepEqual(await queueOf(store, partnerId), []);
  });
});

describe('a failed push', () => {
  it('D41: waits, and the later events of its application wait as long', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [7, 7, 8]);
    const [first] = await claim(partnerId);
    await record([first!], 'failed', 60_000);
    const [failed, later, other] = await queueOf(store, partnerId);
    for (const { dueInS } of [failed!, later!]) assert.ok(dueInS > 30 && dueInS <= 60, `${dueInS}`);
    assert.ok(other!.dueInS < 0);
    await endWaits(store);
    const [again] = await claim(partnerId);
    await database.query(
      "UPDATE pushes SET due_at = now() + interval '1 hour' WHERE number = 2 AND partner_id = $1",
      [partnerId],
    );
    await record([again!], 'delivered');
    assert.deepEqual(numbersOf(await claim(partnerId)), [2]);
  });

  it('D41: is given up three days after its event, and the next event of its application goes on', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [7, 8]);
    await letPass(THREE_DAYS_MS - 60_000);
    await addEvents(store, partnerId, [7]);
    const [old, other] = await claim(partnerId);
    assert.deepEqual(await record([old!], 'failed', 0), []);
    await letPass(60_000);
    await record([other!], 'delivered');
    const [again] = await claim(partnerId);
    assert.equal(again?.number, 1);
    const changes = await record([again!], 'failed');
    assert.deepEqual(changes, [{ partnerId, change: null, reason: 'status_500', givenUp: 1 }]);
    assert.deepEqual(numbersOf(await claim(partnerId)), [3]);
  });

  it('D41: a push whose own data cannot be read waits, and says nothing about its endpoint', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(await record(await claim(partnerId), 'unsent'), []);
    assert.equal((await queueOf(store, partnerId)).length, 6);
    const { failures, failing_ms, broken_at, last_failure } = await endpointOf(partnerId);
    assert.deepEqual([failures, failing_ms, broken_at, last_failure], [0, null, null, null]);
  });

  it('D41: a push whose event was deleted for its age leaves the queue, and is no success', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1]);
    await record(await claim(partnerId), 'forgotten');
    assert.deepEqual(await queueOf(store, partnerId), []);
    assert.equal((await endpointOf(partnerId)).last_success_at, null);
  });
});

describe('a broken endpoint', () => {
  /** Five events in a row have failed at their first attempt. */
  async function broken(events: number): Promise<PartnerId> {
    const partnerId = await newPartner();
    await addEvents(
      store,
      partnerId,
      Array.from({ length: events }, (_, n) => n),
    );
    const failing = (await claim(partnerId)).slice(0, 5);
    const changes = await record(failing, 'failed');
    assert.deepEqual(changes, [{ partnerId, change: 'broken', reason: 'status_500', givenUp: 0 }]);
    await database.query(
      'UPDATE pushes SET leased_until = NULL, attempts = 0 WHERE partner_id = $1 AND number > 5',
      [partnerId],
    );
    return partnerId;
  }

  it('D41: gets one probe after a pause that doubles up to 15 minutes, from one process alone', async () => {
    const partnerId = await broken(40);
    for (const pauseS of [15, 30, 60, 120, 240, 480, 900, 900]) {
      assert.deepEqual(await claim(partnerId), []);
      const { rows } = await database.query(
        'SELECT extract(epoch FROM probe_at - clock_timestamp())::float8 AS s FROM partner_endpoints WHERE partner_id = $1',
        [partnerId],
      );
      assert.ok(rows[0].s > pauseS - 10 && rows[0].s <= pauseS, `${rows[0].s} of ${pauseS}`);
      await endWaits(store);
      const probes = (await Promise.all([1, 2, 3, 4].map(() => claim(partnerId)))).flat();
      assert.equal(probes.length, 1);
      await record(probes, 'failed');
    }
  });

  it('D41: a probe takes what was tried the longest ago, so that one event that always fails stops no other', async () => {
    const partnerId = await broken(7);
    const probed: number[] = [];
    for (let probe = 0; probe < 7; probe += 1) {
      await endWaits(store);
      const [push] = await claim(partnerId);
      probed.push(push!.number);
      await record([push!], 'failed');
    }
    assert.deepEqual([...probed].sort(), [1, 2, 3, 4, 5, 6, 7]);
  });

  it('D41: a success makes everything due again', async () => {
    const partnerId = await broken(20);
    await endWaits(store);
    const probe = await claim(partnerId);
    assert.equal(probe.length, 1);
    await database.query("UPDATE pushes SET due_at = now() + interval '10 minutes' WHERE partner_id = $1", [
      partnerId,
    ]);
    assert.deepEqual(await record(probe, 'delivered'), [
      { partnerId, change: 'mended', reason: null, givenUp: 0 },
    ]);
    assert.equal((await claim(partnerId)).length, MOST_UNDERWAY);
  });

  it('D41: one event that fails again and again does not break an endpoint that takes the others', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1]);
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await endWaits(store);
      const [push] = await claim(partnerId);
      assert.deepEqual(await record([push!], 'failed'), []);
    }
    await addEvents(store, partnerId, [2]);
    assert.deepEqual(numbersOf(await claim(partnerId)), [2]);
  });
});

describe('a dead endpoint', () => {
  it('D41: that fails too often and says 410 at the same moment is disabled, and no probe is announced', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2, 3, 4, 5]);
    await record(await claim(partnerId), 'gone');
    const { disabled_reason, broken_at, probe_at } = await endpointOf(partnerId);
    assert.deepEqual([disabled_reason, broken_at, probe_at], ['gone', null, null]);
  });

  it('D41: that says 410 is disabled at once, and its pushes are dropped', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2, 3]);
    const [push] = await claim(partnerId);
    assert.deepEqual(await record([push!], 'gone'), [
      { partnerId, change: 'disabled', reason: 'gone', givenUp: 0 },
    ]);
    assert.equal((await endpointOf(partnerId)).disabled_reason, 'gone');
    assert.deepEqual(await claim(partnerId), []);
    await dropPushes(database, partnerId);
    assert.deepEqual(await queueOf(store, partnerId), []);
  });

  it('D41: without a success for three days is disabled; any success begins the three days anew', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2]);
    const [one, two] = await claim(partnerId);
    await record([one!], 'failed', 0);
    await letPass(THREE_DAYS_MS);
    await record([two!], 'delivered');
    await addEvents(store, partnerId, [3]);
    await record((await claim(partnerId)).slice(-1), 'failed', 0);
    assert.equal((await endpointOf(partnerId)).disabled_at, null);
    await letPass(THREE_DAYS_MS - 60_000);
    assert.deepEqual(await record(await claim(partnerId), 'failed', 0), []);
    await letPass(60_000);
    const changes = await record(await claim(partnerId), 'failed', 0);
    assert.deepEqual(changes, [{ partnerId, change: 'disabled', reason: 'no_success', givenUp: 1 }]);
  });

  it('D41: with a single event that waits is disabled when the event is given up', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1]);
    await letPass(10_000);
    await record(await claim(partnerId), 'failed', 0);
    // The event is three days old; the first failure is not yet.
    await letPass(THREE_DAYS_MS - 5_000);
    const changes = await record(await claim(partnerId), 'failed', 0);
    assert.deepEqual(changes, [{ partnerId, change: 'disabled', reason: 'no_success', givenUp: 1 }]);
  });

  it('D41: time in which nothing waits does not count', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [7, 8]);
    const [refused, other] = await claim(partnerId);
    await record([refused!], 'failed', 0);
    await letPass(THREE_DAYS_MS / 3);
    await record([other!], 'delivered');
    await record(await claim(partnerId), 'failed', 0);
    await letPass(THREE_DAYS_MS);
    await database.query('UPDATE partner_endpoints SET failing_ms = failing_ms + $2 WHERE partner_id = $1', [
      partnerId,
      THREE_DAYS_MS / 3,
    ]);
    const [givenUp] = await record(await claim(partnerId), 'failed', 0);
    assert.deepEqual(givenUp, { partnerId, change: null, reason: 'status_500', givenUp: 1 });
    await letPass(2 * THREE_DAYS_MS);
    await addEvents(store, partnerId, [9]);
    assert.deepEqual(await record(await claim(partnerId), 'failed', 0), []);
  });

  it('D41: the upkeep drops what came while it was disabled', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2, 3]);
    await database.query('UPDATE partner_endpoints SET disabled_at = now() WHERE partner_id = $1', [
      partnerId,
    ]);
    await dropPushes(database);
    assert.deepEqual(await queueOf(store, partnerId), []);
  });
});

describe('another URL', () => {
  it('D41: what became of attempts on the URL from before says nothing about the new one', async () => {
    for (const result of ['gone', 'failed'] as const) {
      const partnerId = await newPartner();
      await addEvents(store, partnerId, [1, 2, 3, 4, 5]);
      const underway = await claim(partnerId);
      await setEndpoint(store, partnerId, PEER);
      assert.deepEqual(await record(underway, result), []);
      const { disabled_at, broken_at, last_failure } = await endpointOf(partnerId);
      assert.deepEqual([disabled_at, broken_at, last_failure], [null, null, null]);
    }
  });

  it('D41: what waits, and what is under way to the URL from before, is due at the new one at once', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [1, 2]);
    const [first, second] = await claim(partnerId);
    await record([first!], 'failed', 900_000);
    await setEndpoint(store, partnerId, PEER);
    assert.deepEqual(numbersOf(await claim(partnerId)), [1, 2]);
    // The answer of the URL from before does not take the event from the new one.
    await record([second!], 'delivered');
    assert.deepEqual(numbersOf(await queueOf(store, partnerId)), [1, 2]);
  });
});

describe('a resend', () => {
  it('D41: queues the events after a number again, in their order, and those that wait only once', async () => {
    const partnerId = await newPartner();
    await addEvents(store, partnerId, [7, 8, 7]);
    await record(await claim(partnerId), 'delivered');
    await record(await claim(partnerId), 'delivered');
    await addEvents(store, partnerId, [7]);
    assert.deepEqual(numbersOf(await queueOf(store, partnerId)), [4]);
    assert.equal(await resendEvents(database, partnerId, 1), 2);
    assert.deepEqual(numbersOf(await queueOf(store, partnerId)), [2, 3, 4]);
    assert.deepEqual(numbersOf(await claim(partnerId)), [2, 3]);
    assert.equal(await resendEvents(database, partnerId, 4), 0);
  });
});
