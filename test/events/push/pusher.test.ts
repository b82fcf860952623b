/** The loop of the pushes on a real database, against real endpoints (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { PartnerId } from '../../../src/domain/partner/credential.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { errorCode } from '../../../src/ground/base/describe-error.ts';
import { isPassingTrouble } from '../../../src/ground/postgres/store-trouble.ts';
import { eventIdOf } from '../../../src/seal/event-ids.ts';
import { makeSigningSecret } from '../../../src/subjects/events/push/http/sign.ts';
import { rotateSecret } from '../../../src/subjects/events/push/sql/endpoints.ts';
import type { EndpointChange } from '../../../src/subjects/events/push/sql/record.ts';
import type { PushContext } from '../../../src/subjects/events/push/turn.ts';
import { readPartnerEvents } from '../../../src/subjects/events/sql/partner-events.ts';
import { renderPartnerEvent } from '../../../src/wire/contract/partner-event.ts';
import { commandLine } from '../../cli/harness.ts';
import { IN_REVIEW } from '../../support/applicant.ts';
import { type EndpointPeer, type ReceivedPush, startEndpointPeer } from '../../support/endpoint-peer.ts';
import { eventually } from '../../support/eventually.ts';
import { addEvents, endWaits, pushContext, queueOf, runPusher, setEndpoint } from '../../support/pushes.ts';
import { anApplication, post, testService } from '../../support/service.ts';
import { TestClock } from '../../support/test-clock.ts';

/** The longest rest of a loop that has work. */
const MAX_REST_MS = 250;
const service = await testService();
const { database, vault } = service;

/** Runs loops of their own until `work` has ended; a turn that fails fails the test. */
async function pushing<T>(contexts: readonly PushContext[], work: () => Promise<T>): Promise<T> {
  const errors: unknown[] = [];
  const loops = contexts.map((context) => runPusher(context, errors));
  try {
    return await work();
  } finally {
    await Promise.all(loops.map((loop) => loop.stop()));
    // What is under way is cut off four seconds after the stop.
    for (const { clock } of contexts) if (clock instanceof TestClock) await clock.advance(4_000);
    await Promise.all(loops.map(({ ended }) => ended));
    for (const { sender } of contexts) sender.close();
    // A busy machine may cut a wait off; the turn or the record is then made again.
    assert.deepEqual(
      errors.filter((error) => !isPassingTrouble(error) && errorCode(error) !== '57014'),
      [],
    );
  }
}

async function partnerAt(
  peer: EndpointPeer,
): Promise<{ partnerId: PartnerId; secret: string; apiKey: string }> {
  const { partnerId, apiKey } = await service.addPartner();
  return { partnerId, apiKey, secret: await setEndpoint(service, partnerId, peer) };
}

const isEmpty = (partnerId: PartnerId) => async () => (await queueOf(service, partnerId)).length === 0;
const idsOf = (pushes: readonly ReceivedPush[]) => pushes.map(({ event }) => event?.id);
const eventId = (partnerId: PartnerId, number: number) => eventIdOf(vault, partnerId, number);

describe('a healthy endpoint', () => {
  it('D41: gets each event once, in its place, as the feed tells it, with a signature that verifies', async () => {
    const peer = await startEndpointPeer();
    const { partnerId, secret, apiKey } = await partnerAt(peer);
    const application = anApplication();
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
    const [{ id }] = (body as { results: [{ id: number }] }).results;
    await addEvents(service, partnerId, [id, id, 1_000_001]);
    await pushing([pushContext(service, [peer.host])], () => eventually('the pushes', isEmpty(partnerId)));

    assert.equal(peer.received.length, 3);
    const events = await readPartnerEvents(
      { database, vault, clock: machineClock },
      [1, 2, 3].map((number) => ({ partnerId, number })),
    );
    assert.deepEqual(
      peer.received.filter(({ event }) => event?.data.id === id).map((push) => JSON.parse(push.body)),
      events.slice(0, 2).map((event) => JSON.parse(JSON.stringify(renderPartnerEvent(event)))),
    );
    assert.equal(events[0]?.idNumber, application.id_number);
    for (const { headers, body, event } of peer.received) {
      assert.deepEqual(new Webhook(secret).verify(body, headers), event);
      assert.equal(headers['webhook-id'], event?.id);
    }
  });

  it("D41: gets an operator's review, with the code of its reason and without its text", async () => {
    const peer = await startEndpointPeer();
    const { partnerId, apiKey } = await partnerAt(peer);
    const application = anApplication(IN_REVIEW);
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
    const [{ id }] = (body as { results: [{ id: number }] }).results;
    const reason = ['--reason', 'seen by Ana', '--reason-code', 'income_verified'];
    await commandLine(service).json('application', 'approve', `${id}`, ...reason);
    await pushing([pushContext(service, [peer.host])], () => eventually('the push', isEmpty(partnerId)));
    const [push] = peer.received.map((received) => JSON.parse(received.body));
    const idNumber = application.id_number;
    assert.deepEqual(
      [push.type, push.data],
      [
        'application.status_changed',
        {
          id,
          id_number: idNumber,
          from: 'in_review',
          to: 'pending_signature',
          reason_code: 'income_verified',
          reason_codes: ['capacity_below_1_5', 'debt_2_years', 'no_history', 'two_debts'],
        },
      ],
    );
    assert.doesNotMatch(peer.received[0]!.body, /seen by/);
  });

  it('D41: with a new secret, pushes verify under the old one too until the overlap ends', async () => {
    const peer = await startEndpointPeer();
    const { partnerId, secret } = await partnerAt(peer);
    const next = makeSigningSecret();
    await rotateSecret(database, vault, partnerId, next);
    const pushOne = async () => {
      await addEvents(service, partnerId, [1]);
      await pushing([pushContext(service, [peer.host])], () => eventually('the push', isEmpty(partnerId)));
      return peer.received.at(-1) as ReceivedPush;
    };
    const during = await pushOne();
    for (const each of [secret, next]) new Webhook(each).verify(during.body, during.headers);
    await database.query(
      'UPDATE partner_endpoints SET rotated_ms = rotated_ms - 86400000 WHERE partner_id = $1',
      [partnerId],
    );
    const later = await pushOne();
    new Webhook(next).verify(later.body, later.headers);
    assert.throws(() => new Webhook(secret).verify(later.body, later.headers), {
      message: 'No matching signature found',
    });
  });
});

describe('an endpoint with faults', () => {
  it('D41: gets an event again after a failure, in the order of its application, while others overtake', async () => {
    const peer = await startEndpointPeer();
    const { partnerId } = await partnerAt(peer);
    const others = Promise.withResolvers<void>();
    let failures = 0;
    peer.answer = ({ event }) => {
      if (peer.received.filter((push) => push.event?.data.id !== 7).length === 3) others.resolve();
      if (event?.data.id !== 7 || failures === 2) return 204;
      failures += 1;
      // It fails when the others have overtaken it, however long they take.
      return (response) => void others.promise.then(() => response.writeHead(500).end());
    };
    await addEvents(service, partnerId, [7, 8, 7, 9, 7, 8]);
    await pushing([pushContext(service, [peer.host], { senderClock: new TestClock() })], () =>
      eventually('the pushes', async () => {
        await endWaits(service);
        return isEmpty(partnerId)();
      }),
    );
    const of = (application: number) =>
      idsOf(peer.received.filter(({ event }) => event?.data.id === application));
    const id = (number: number) => eventId(partnerId, number);
    assert.deepEqual(of(7), [id(1), id(1), id(1), id(3), id(5)]);
    assert.deepEqual(of(8), [id(2), id(6)]);
    assert.deepEqual(of(9), [id(4)]);
    const second = peer.received.findIndex(({ event }) => event?.id === id(3));
    assert.ok(idsOf(peer.received).indexOf(id(6)) < second, 'other applications overtook');
  });

  it('D41: two workers never push the same event at the same moment, nor two events of one application', async () => {
    const peer = await startEndpointPeer();
    const { partnerId } = await partnerAt(peer);
    const open = new Set<number>();
    const clashes: number[] = [];
    peer.answer = ({ event }) => {
      const application = event?.data.id as number;
      if (open.has(application)) clashes.push(application);
      open.add(application);
      return (response) => {
        // The others go on meanwhile, by some statements.
        void Promise.all(Array.from({ length: application % 4 }, () => database.query('SELECT'))).then(() => {
          open.delete(application);
          response.writeHead(application % 5 === 0 && Math.random() < 0.3 ? 500 : 204).end();
        });
      };
    };
    for (let turn = 0; turn < 5; turn += 1) {
      await addEvents(
        service,
        partnerId,
        Array.from({ length: 40 }, (_, n) => n),
      );
    }
    const workers = Array.from({ length: 3 }, () => pushContext(service, [peer.host]));
    await pushing(workers, () =>
      eventually('the pushes', async () => {
        await endWaits(service);
        return isEmpty(partnerId)();
      }),
    );
    assert.deepEqual(clashes, []);
    const ids = idsOf(peer.received);
    assert.equal(new Set(ids).size, 200);
    for (let application = 0; application < 40; application += 1) {
      const got = idsOf(peer.received.filter(({ event }) => event?.data.id === application));
      const expected = Array.from({ length: 5 }, (_, turn) =>
        eventId(partnerId, turn * 40 + application + 1),
      );
      assert.deepEqual([...new Set(got)], expected);
    }
  });

  it('D41: one that hangs holds up no other partner', async () => {
    const [silent, healthy] = [await startEndpointPeer(), await startEndpointPeer()];
    silent.answer = () => () => {};
    const [slow, quick] = [await partnerAt(silent), await partnerAt(healthy)];
    await addEvents(
      service,
      slow.partnerId,
      Array.from({ length: 500 }, (_, n) => n),
    );
    const clock = new TestClock();
    const context = { ...pushContext(service, [silent.host, healthy.host]), clock };
    await pushing([context], async () => {
      const resting = (what: string, isMet: () => boolean | Promise<boolean>) =>
        eventually(what, async () => {
          await clock.advance(MAX_REST_MS);
          return isMet();
        });
      await resting('the slow endpoint to be full', () => silent.counts.underway === 16);
      await addEvents(
        service,
        quick.partnerId,
        Array.from({ length: 100 }, (_, n) => n),
      );
      await resting('the pushes of the other', isEmpty(quick.partnerId));
      assert.equal(silent.counts.mostUnderway, 16);
      assert.equal((await queueOf(service, slow.partnerId)).length, 500);
    });
    assert.equal(healthy.received.length, 100);
    // A stop cuts these attempts off; what they left is taken again after its lease.
    await database.query('DELETE FROM partner_endpoints WHERE partner_id = $1', [slow.partnerId]);
  });

  it('D41: those that hang, of many partners, hold a bounded number of connections', async () => {
    const silent = await startEndpointPeer();
    silent.answer = () => () => {};
    const sixteen = Array.from({ length: 16 }, (_, n) => n);
    const partnerIds: number[] = [];
    for (let count = 0; count < 75; count += 1) {
      const { partnerId } = await partnerAt(silent);
      await addEvents(service, partnerId, sixteen);
      partnerIds.push(partnerId);
    }
    const clock = new TestClock();
    // The time of the attempts stands still: none of them ends.
    const context = { ...pushContext(service, [silent.host], { senderClock: new TestClock() }), clock };
    await pushing([context], async () => {
      const nextTurn = async () => {
        await clock.untilTimers();
        await clock.advance(2_000);
      };
      await eventually('a thousand attempts', async () => {
        await nextTurn();
        return silent.counts.underway >= 1_000;
      });
      // More turns would take up the rest.
      for (let turns = 0; turns < 5; turns += 1) await nextTurn();
      await clock.untilTimers();
      assert.ok(silent.counts.mostUnderway < 1_200, `${silent.counts.mostUnderway} under way`);
    });
    await database.query('DELETE FROM partner_endpoints WHERE partner_id = ANY ($1)', [partnerIds]);
  });

  it('D41: one that says 410 is disabled, and the log is told', async () => {
    const peer = await startEndpointPeer();
    peer.answer = () => 410;
    const { partnerId } = await partnerAt(peer);
    await addEvents(service, partnerId, [1]);
    const changes: EndpointChange[] = [];
    await pushing([pushContext(service, [peer.host], { changes })], () =>
      eventually('the change', () => changes.length > 0),
    );
    assert.deepEqual(changes, [{ partnerId, change: 'disabled', reason: 'gone', givenUp: 0 }]);
  });
});

describe('stored data that cannot be read', () => {
  it('D41: an endpoint of a missing data key is told, and its events wait', async () => {
    const peer = await startEndpointPeer();
    const { partnerId } = await partnerAt(peer);
    await database.query("UPDATE partner_endpoints SET sealed = '\\x01' WHERE partner_id = $1", [partnerId]);
    await addEvents(service, partnerId, [1]);
    const faults: string[] = [];
    const context = { ...pushContext(service, [peer.host]), onFault: (fault: string) => faults.push(fault) };
    await pushing([context], () =>
      eventually(
        'the fault',
        async () => (await queueOf(service, partnerId))[0]?.isLeased === false && faults.length > 0,
      ),
    );
    assert.deepEqual(faults, ['unreadable_endpoint']);
    assert.equal((await queueOf(service, partnerId)).length, 1);
    assert.equal(peer.received.length, 0);
  });
});
