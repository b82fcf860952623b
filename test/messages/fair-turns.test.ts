/** Partners are served in turn when messages are sent (D42; docs/messages.md, "Whose turn it is"). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  applicationOfMessage,
  batchAndPositionOf,
  toApplicationId,
} from '../../src/domain/application/ids.ts';
import { composeMessage, type MessageSource } from '../../src/domain/message/compose-message.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { MOST_PARTITIONS } from '../../src/subjects/applications/sql/partition-runs.ts';
import { leavePartition } from '../../src/subjects/applications/sql/partitions.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { beginSending, type SenderLimits } from '../../src/subjects/messages/sql/begin.ts';
import type { ClaimedMessage } from '../../src/subjects/messages/sql/claim.ts';
import { claimDue, deliveryContext } from '../support/delivery-context.ts';
import { assertInStep, makeDue, setAll, setMessages } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { allowSmallPartitions } from '../support/small-partitions.ts';
import { emptyApplications } from '../support/stored-applications.ts';

// The upkeep would come between the steps on a busy machine.
const service = await testService({}, { upkeep: false });
const { database } = service;
const NO_LIMITS: SenderLimits = {
  messagesPerSecond: null,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};
const [acme, bolt, casa] = [
  await service.addPartner(),
  await service.addPartner(),
  await service.addPartner(),
] as const;

beforeEach(async () => {
  await emptyApplications(database);
  await database.query('DELETE FROM recipients');
  await database.query(
    "UPDATE sender SET tokens = 0, refilled_at = now() - interval '1 minute', credit = 1000, alive_at = now() + interval '1 hour', last_partner = 0, recent_phones = NULL",
  );
});

/** Registers messages; gives the ids of their applications. */
async function register(apiKey: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  while (ids.length < count) {
    const applications = Array.from({ length: Math.min(100, count - ids.length) }, () => anApplication());
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
    ids.push(...(body as { results: { id: number }[] }).results.map(({ id }) => id));
  }
  return ids;
}

/** One turn with room for `room` messages; gives the applications of those that went out, sorted. */
async function turn(room: number, limits: Partial<SenderLimits> = {}): Promise<number[]> {
  // Five seconds after the channel's last answer few messages may go out, whatever the credit is.
  await database.query(
    "UPDATE sender SET credit = $1, alive_at = now() + interval '1 hour', refilled_at = now()",
    [room],
  );
  const sent = await deliver(limits);
  await assertInStep(database);
  return sent;
}

async function deliver(limits: Partial<SenderLimits>): Promise<number[]> {
  const sent: number[] = [];
  const channel = {
    send: async ({ applicationId, callback }: { applicationId: number; callback: string }) => {
      sent.push(applicationId);
      return { kind: 'accepted', channelMessageId: `wamid.${callback}` } as const;
    },
  };
  const context = deliveryContext(service, channel, { limits: { ...NO_LIMITS, ...limits } });
  const { concluded } = await deliverDue(context, new AbortController().signal);
  await concluded;
  return sent.toSorted((a, b) => a - b);
}

describe("one partner's backlog does not hold up another partner (D42)", () => {
  it('a single message goes out with the next turn, whatever waits before it', async () => {
    const many = await register(acme.apiKey, 600);
    const [one] = (await register(bolt.apiKey, 1)) as [number];
    const sent = await turn(100);
    assert.ok(sent.includes(one));
    assert.deepEqual(
      sent,
      [...many.slice(0, 99), one],
      'and what it leaves goes to the others, oldest first',
    );
  });

  it('also where the sender has room for one message at a time', async () => {
    await register(acme.apiKey, 300);
    const [one] = (await register(bolt.apiKey, 1)) as [number];
    const sent = [...(await turn(1)), ...(await turn(1))];
    assert.ok(sent.includes(one));
  });

  it('three partners with backlogs get equal parts', async () => {
    const all = [
      await register(acme.apiKey, 120),
      await register(bolt.apiKey, 150),
      await register(casa.apiKey, 90),
    ];
    const shares = async (room: number) => {
      const sent = new Set(await turn(room));
      return all.map((ids) => ids.filter((id) => sent.has(id)).length);
    };
    assert.deepEqual(await shares(90), [30, 30, 30]);
    const sums = [0, 0, 0];
    for (let n = 0; n < 9; n += 1)
      for (const [place, share] of (await shares(10)).entries()) sums[place]! += share;
    assert.deepEqual(sums, [30, 30, 30], 'the extra message of a turn goes round');
    assert.deepEqual(await shares(200), [60, 90, 30], 'what one leaves goes to the others');
  });

  it('what waited for a time waits for its turn as well', async () => {
    const many = await register(acme.apiKey, 250);
    const [deferred] = (await register(bolt.apiKey, 1)) as [number];
    await setAll(database, ['queued'], { reason: 'contact_window', dueInMs: 60_000 });
    const [fresh] = (await register(casa.apiKey, 1)) as [number];
    await makeDue(database);
    const sent = await turn(30);
    assert.ok(sent.includes(deferred) && sent.includes(fresh));
    assert.equal(sent.filter((id) => many.includes(id)).length, 28);
  });

  it('a partner whose deferred messages are not due has no turn', async () => {
    await register(bolt.apiKey, 3);
    await setAll(database, ['queued'], { reason: 'contact_window', dueInMs: 60_000 });
    const mine = await register(acme.apiKey, 2);
    const theirs = await register(casa.apiKey, 2);
    await setAll(database, ['queued'], { reason: '1', dueInMs: 60_000 });
    await makeDue(database, ...mine, ...theirs);
    const sent = [...(await turn(1)), ...(await turn(1)), ...(await turn(1)), ...(await turn(1))];
    assert.deepEqual(
      sent.toSorted((a, b) => a - b),
      [...mine, ...theirs],
    );
  });

  it('a deferred message has its turn, also where the messages of another partner lie in more partitions than one statement touches', async () => {
    await allowSmallPartitions(database);
    for (let partition = 0; partition <= MOST_PARTITIONS; partition += 1) {
      await register(acme.apiKey, 1);
      assert.equal(await leavePartition(database, 0), true);
    }
    const [deferred] = (await register(bolt.apiKey, 1)) as [number];
    await setMessages(database, [deferred], { reason: 'contact_window', dueInMs: -1_000 });
    assert.ok((await turn(100)).includes(deferred));
  });

  it('deferred and new messages of one partner go out, each once', async () => {
    const ids = await register(acme.apiKey, 150);
    await setAll(database, ['queued'], { reason: '1', dueInMs: 60_000 });
    ids.push(...(await register(acme.apiKey, 150)), ...(await register(bolt.apiKey, 7)));
    await makeDue(database);
    const sent: number[] = [];
    for (let n = 0; n < 8; n += 1) sent.push(...(await turn(50)));
    assert.deepEqual(
      sent.toSorted((a, b) => a - b),
      ids,
    );
  });

  it('with more partners than messages in a turn, each has its turn in one round', async () => {
    const keys = await Promise.all(Array.from({ length: 40 }, () => service.addPartner()));
    for (const { apiKey } of keys) await register(apiKey, 3);
    const partnerOf = new Map(
      (await database.query('SELECT batch_id, partner_id FROM outbox')).rows.map((row) => [
        row.batch_id as string,
        row.partner_id as number,
      ]),
    );
    const served = new Map<number, number>();
    for (let n = 0; n < 20; n += 1) {
      for (const id of await turn(4)) {
        const partner = partnerOf.get(batchAndPositionOf(toApplicationId(id)).batchId) as number;
        served.set(partner, (served.get(partner) ?? 0) + 1);
      }
    }
    assert.equal(served.size, 40);
    assert.deepEqual([...new Set(served.values())], [2]);
  });

  it('with a rate, a turn that claimed more than there is room for puts off the last of each partner, not the newest', async () => {
    const many = await register(acme.apiKey, 300);
    const [one] = (await register(bolt.apiKey, 1)) as [number];
    await database.query("UPDATE sender SET alive_at = now() + interval '1 hour'");
    // As if another worker had taken the room after this one's claim.
    const turn = await claimDue(
      { database, vault: service.vault, clock: machineClock },
      250,
      null,
      async ({ messages, lastPartnerId }, claim) => {
        const ready = messages.map((message) => ({
          message: composeMessage(message as ClaimedMessage & MessageSource),
          partnerId: message.partnerId,
          tries: message.tries,
          dayLimit: null,
        }));
        const begun = await beginSending(
          claim,
          ready,
          lastPartnerId,
          { ...NO_LIMITS, messagesPerSecond: 20 },
          60_000,
        );
        return { claimed: ready.length, begun };
      },
    );
    assert.equal(turn?.claimed, 250);
    const sent = [...turn.begun].map((id) => applicationOfMessage(id)).toSorted((a, b) => a - b);
    assert.deepEqual(sent, [...many.slice(0, 19), one]);
    await assertInStep(database);
  });
});

describe('the limit of different phones in 24 hours is shared (D42)', () => {
  it('what is left goes to the partners in turn', async () => {
    await register(acme.apiKey, 50);
    const theirs = await register(bolt.apiKey, 50);
    const sent = await turn(100, { recipientsPerDay: 9 });
    assert.equal(sent.length, 9);
    assert.ok(Math.abs(sent.filter((id) => theirs.includes(id)).length - 4.5) <= 0.5);
  });

  it('the last tenth is for partners that have not used up their share', async () => {
    const limits = { recipientsPerDay: 100 };
    await register(acme.apiKey, 200);
    let sent = 0;
    for (let n = 0; n < 10; n += 1) sent += (await turn(40, limits)).length;
    assert.equal(sent, 90);
    const theirs = await register(bolt.apiKey, 6);
    assert.deepEqual(await turn(40, limits), theirs);
    await register(casa.apiKey, 30);
    assert.equal((await turn(40, limits)).length, 4);
    assert.deepEqual(await turn(40, limits), []);
  });

  it('a partner that is alone gets the whole limit', async () => {
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id <> (SELECT min(id) FROM api_keys)');
    await register(acme.apiKey, 60);
    let sent = 0;
    for (let n = 0; n < 4; n += 1) sent += (await turn(20, { recipientsPerDay: 50 })).length;
    assert.equal(sent, 50);
  });
});
