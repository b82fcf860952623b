/** What a phone gets in 24 hours, over all partners (D42; docs/messages.md, "Limits"). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { ContactWindows } from '../../src/domain/message/contact-window.ts';
import { MESSAGE_TYPES, type MessageType } from '../../src/domain/message/notify.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { againAfterConflict, inTransaction } from '../../src/ground/postgres/database.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { type DeliveryContext, deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import type { SenderLimits } from '../../src/subjects/messages/sql/begin.ts';
import { forgetRecipients, forgetRejections, mendLeap } from '../../src/subjects/messages/sql/upkeep.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { assertInStep, makeDue, setMessages } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { shifted } from '../support/shifted.ts';
import { emptyApplications } from '../support/stored-applications.ts';
import { untilDone } from '../support/until-done.ts';

// The file does the jobs of the upkeep itself.
const service = await testService({}, { upkeep: false });
const { database, vault } = service;
const LIMITS: SenderLimits = {
  messagesPerSecond: null,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: 3,
  rejectionsPerPhone: 1,
};
const acme = await service.addPartner();
const bolt = await service.addPartner();
const partners = [acme, bolt, ...(await Promise.all(Array.from({ length: 4 }, () => service.addPartner())))];

beforeEach(async () => {
  await emptyApplications(database);
  await database.query('DELETE FROM recipients');
  await database.query('DELETE FROM waiting_rejections');
  await database.query(
    "UPDATE sender SET tokens = 0, refilled_at = now(), latest_at = now(), credit = 1000, alive_at = now() + interval '1 hour'",
  );
});

async function register(apiKey: string, changes: Record<string, unknown>): Promise<number> {
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [anApplication(changes)] });
  const [id] = (body as { results: { id: number }[] }).results.map((result) => result.id);
  assert.ok(id !== undefined, JSON.stringify(body));
  return id;
}

const accepted = (message: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: `wamid.${message.callback}`,
});

/** Turns of one worker until nothing is due; gives the applications of the messages that went out. */
async function deliver(
  answer: (message: OutgoingMessage) => SendResult = accepted,
  limits: Partial<SenderLimits> = {},
  windows: ContactWindows = new Map(),
): Promise<number[]> {
  const sent: number[] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message.applicationId);
    return answer(message);
  };
  const context: DeliveryContext = deliveryContext(
    service,
    { send },
    { limits: { ...LIMITS, ...limits }, windows },
  );
  await untilDone(async () => {
    const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
    await concluded;
    return claimed === 0;
  });
  return sent;
}

/** As `deliver`, with a message a turn. */
async function deliverOneByOne(): Promise<number[]> {
  const sent: number[] = [];
  await untilDone(async () => {
    if ((await database.query(OPEN)).rowCount === 0) return true;
    await database.query('UPDATE sender SET tokens = 1, refilled_at = now()');
    const send = async (message: OutgoingMessage) => {
      sent.push(message.applicationId);
      return accepted(message);
    };
    const context = deliveryContext(service, { send }, { limits: { ...LIMITS, messagesPerSecond: 1 } });
    const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
    assert.ok(claimed <= 1);
    await concluded;
    return false;
  });
  return sent;
}

/** The states of an application's messages, oldest first. */
async function states(id: number): Promise<string[]> {
  const { rows } = await database.query<{ state: string }>(
    `SELECT concat_ws(' ', type, status, reason) AS state FROM messages
    WHERE application_of_message(message_id) = $1 AND batch_id = $1 >> 7 ORDER BY message_id`,
    [id],
  );
  return rows.map(({ state }) => state);
}

const SHIFT = `
  UPDATE recipients SET sent_at = ${shifted('sent_at', '$1::interval')},
    earlier_at = ARRAY(SELECT e + $1::interval FROM unnest(earlier_at) AS e)`;

const OPEN = "SELECT FROM messages WHERE status IN ('queued', 'sending') LIMIT 1";

/** Moves what the phones got by this much. */
const shift = (by: string) => database.query(SHIFT, [by]);

/** Registers a `rejected` and sends it, each of another partner. */
async function send(
  phone: unknown,
  partner: number,
  limits: Partial<SenderLimits> = { rejectionsPerPhone: 20 },
  windows: ContactWindows = new Map(),
) {
  const id = await register((partners[partner] as typeof acme).apiKey, { ...REJECTED, phone });
  return [id, (await deliver(accepted, limits, windows)).includes(id)] as const;
}

describe('a phone gets at most three messages in 24 hours (D42)', () => {
  it('over all partners; a fourth is cancelled, and its application stands', async () => {
    const { phone } = anApplication();
    for (const partner of [0, 1, 2]) assert.equal((await send(phone, partner))[1], true);
    const [fourth, isSent] = await send(phone, 3);
    assert.equal(isSent, false);
    assert.deepEqual(await states(fourth), ['rejected cancelled recipient_limit']);
    const { rows } = await database.query('SELECT status FROM applications WHERE id = $1', [fourth]);
    assert.deepEqual(rows, [{ status: 'rejected' }]);
    await assertInStep(database);
  });

  it('another phone is not concerned', async () => {
    const { phone } = anApplication();
    for (const partner of [0, 1, 2, 3]) await send(phone, partner);
    assert.equal((await send(anApplication().phone, 3))[1], true);
  });

  it('24 hours after the first of them the next one goes out', async () => {
    const { phone } = anApplication();
    await send(phone, 0);
    await shift('-12 hours');
    for (const partner of [1, 2]) await send(phone, partner);
    await shift('-11 hours -59 minutes');
    assert.equal((await send(phone, 3))[1], false);
    await shift('-2 minutes');
    assert.equal((await send(phone, 4))[1], true);
    assert.equal((await send(phone, 5))[1], false, 'three others are in the 24 hours again');
  });

  it('the number is a setting, and a larger or smaller one holds for what was sent before', async () => {
    const { phone } = anApplication();
    const most = (messagesPerPhone: number) => ({ messagesPerPhone, rejectionsPerPhone: 20 });
    for (const partner of [0, 1, 2, 3]) assert.equal((await send(phone, partner, most(4)))[1], true);
    assert.equal((await send(phone, 4, most(2)))[1], false);
    assert.equal((await send(phone, 4, most(4)))[1], false);
    assert.equal((await send(phone, 5, most(5)))[1], true);
  });

  it('exactly, with many workers at once', async () => {
    const phones = Array.from({ length: 10 }, () => anApplication().phone);
    for (const partner of partners) {
      await post(`${service.url}/PRO`, partner.apiKey, {
        applications: phones.map((phone) => anApplication({ ...REJECTED, phone })),
      });
    }
    const sent: unknown[] = [];
    const send = async (message: OutgoingMessage) => {
      sent.push(message.phone);
      return accepted(message);
    };
    const worker = async () => {
      const context = deliveryContext(service, { send }, { limits: { ...LIMITS, rejectionsPerPhone: 20 } });
      await untilDone(async () => {
        if ((await database.query(OPEN)).rowCount === 0) return true;
        await (await deliverDue(context, new AbortController().signal)).concluded;
        // It changes rows in no order, so two at once may deadlock.
        await againAfterConflict(() => makeDue(database));
        return false;
      });
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    for (const phone of phones) assert.equal(sent.filter((to) => to === phone).length, 3);
    await assertInStep(database);
  });

  it('the next attempt of the same message is no second message', async () => {
    const { phone } = anApplication();
    const id = await register(acme.apiKey, { ...REJECTED, phone });
    const refused = (): SendResult => ({ kind: 'retry', reason: '1', afterMs: 3_600_000 });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await makeDue(database, id);
      await database.query('UPDATE sender SET broken_at = NULL, failures = 0');
      await deliver(refused);
    }
    await send(phone, 1);
    await makeDue(database, id);
    assert.deepEqual(await deliver(accepted, { rejectionsPerPhone: 20 }), [id], 'also after another message');
    assert.equal((await send(phone, 2))[1], true);
    assert.equal((await send(phone, 3))[1], false);
    const { rows } = await database.query('SELECT cardinality(earlier_ids) AS earlier FROM recipients');
    assert.deepEqual(rows, [{ earlier: 2 }]);
  });

  it('a message whose send began counts, whatever came of it', async () => {
    const results: SendResult[] = [
      { kind: 'uncertain', reason: 'timeout' },
      { kind: 'give_up', reason: '131026' },
      { kind: 'retry', reason: 'ECONNREFUSED', afterMs: 3_600_000 },
    ];
    const { phone } = anApplication();
    for (const [n, result] of results.entries()) {
      await register((partners[n] as typeof acme).apiKey, { ...REJECTED, phone });
      assert.equal((await deliver(() => result, { rejectionsPerPhone: 20 })).length, 1);
    }
    assert.equal((await send(phone, 3))[1], false);
  });

  it('the message after a review counts, and is cancelled where it is over (D40)', async () => {
    const { phone } = anApplication();
    const id = await register(acme.apiKey, { ...IN_REVIEW, phone });
    assert.deepEqual(await deliver(), [id]);
    const review = (action: 'approve' | 'reject') =>
      reviewApplication(
        { database, vault, clock: machineClock, actor: 'ana' },
        toApplicationId(id),
        action,
        'x',
        'unspecified',
      );
    await review('approve');
    assert.deepEqual(await deliver(accepted, { messagesPerPhone: 2 }), [id]);
    await review('reject');
    assert.deepEqual(await deliver(accepted, { messagesPerPhone: 2 }), []);
    assert.deepEqual((await states(id)).at(-1), 'rejected cancelled recipient_limit');
  });
});

describe('of them at most one is a rejection (D42)', () => {
  it('over all partners; other messages still go out', async () => {
    const { phone } = anApplication();
    assert.equal((await send(phone, 0, {}))[1], true);
    const [second, isSent] = await send(phone, 1, {});
    assert.equal(isSent, false);
    assert.deepEqual(await states(second), ['rejected cancelled recipient_limit']);
    const approved = await register(bolt.apiKey, { phone });
    assert.deepEqual(await deliver(), [approved]);
    await shift('-24 hours -1 minute');
    assert.equal(
      (await send(phone, 2, {}).catch(() => [0, false]))[1],
      false,
      'the phone has an open application',
    );
  });

  it('rejected applications for one phone, two of each partner, lead to one message', async () => {
    const { phone } = anApplication();
    const ids: number[] = [];
    for (const partner of [...partners, ...partners]) {
      ids.push(await register(partner.apiKey, { ...REJECTED, phone }));
    }
    assert.equal((await deliver()).length, 1);
    assert.deepEqual(
      new Set((await Promise.all(ids.map(states))).flat()),
      new Set(['rejected accepted', 'rejected cancelled recipient_limit']),
    );
  });
});

describe('a message that waits gives way to a later one of the same partner (D42)', () => {
  it('where both are due', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { ...REJECTED, phone });
    assert.deepEqual(await deliver(), [later]);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
  });

  it('where the later one has gone out before', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    await deliver(() => ({ kind: 'retry', reason: '1', afterMs: 3_600_000 }));
    const later = await register(acme.apiKey, { phone });
    assert.deepEqual(await deliver(), [later]);
    await makeDue(database, first);
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
  });

  it('where the later one has gone out before and its application is over', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    await setMessages(database, [first], { reason: 'contact_window', dueInMs: 3_600_000 });
    const later = await register(acme.apiKey, { phone });
    assert.deepEqual(await deliver(), [later]);
    await reviewApplication(
      { database, vault, clock: machineClock, actor: 'ana' },
      toApplicationId(later),
      'disburse',
      'x',
      'unspecified',
    );
    await makeDue(database, first);
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
  });

  it('where the later one is of an open application and waits for something else', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { phone });
    await setMessages(database, [later], { reason: 'template_paused', dueInMs: 3_600_000 });
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
    await makeDue(database, later);
    assert.deepEqual(await deliver(), [later]);
  });

  it('where a turn takes only the first', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { ...REJECTED, phone });
    assert.deepEqual(await deliverOneByOne(), [later]);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
    await assertInStep(database);
  });

  it('where another worker holds the later one', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { ...REJECTED, phone });
    await inTransaction(database, async (worker) => {
      await worker.query('SELECT FROM outbox WHERE batch_id = $1::bigint >> 7 FOR UPDATE', [later]);
      assert.deepEqual(await deliver(), []);
    });
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
    assert.deepEqual(await deliver(), [later]);
  });

  it('where the later one waits for its time', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { ...REJECTED, phone });
    await setMessages(database, [later], { reason: 'contact_window', dueInMs: 3_600_000 });
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(await states(first), ['rejected cancelled recipient_limit']);
  });

  it('where one of the two is a rejection after a review (D40)', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const reviewed = await register(acme.apiKey, { ...IN_REVIEW, phone });
    await reviewApplication(
      { database, vault, clock: machineClock, actor: 'ana' },
      toApplicationId(reviewed),
      'reject',
      'x',
      'unspecified',
    );
    const rejection = ['offer cancelled replaced', 'rejected queued'];
    await database.query(
      "UPDATE message_records SET due_at = now() + interval '1 hour' WHERE status = 'queued'",
    );
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(
      [await states(first), await states(reviewed)],
      [['rejected cancelled recipient_limit'], rejection],
    );
    const last = await register(acme.apiKey, { ...REJECTED, phone });
    await makeDue(database);
    assert.deepEqual(await deliverOneByOne(), [last]);
    assert.deepEqual(await states(reviewed), [
      'offer cancelled replaced',
      'rejected cancelled recipient_limit',
    ]);
  });

  it('but not to one that does not wait any more', async () => {
    const { phone } = anApplication();
    const first = await register(acme.apiKey, { ...REJECTED, phone });
    const later = await register(acme.apiKey, { ...REJECTED, phone });
    await setMessages(database, [later], { status: 'cancelled', reason: 'operator' });
    assert.deepEqual(await deliver(), [first]);
  });

  it('exactly, with many workers that take few messages at once', async () => {
    const phones = Array.from({ length: 8 }, () => anApplication().phone);
    const last: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      last.length = 0;
      for (const phone of phones) last.push(await register(acme.apiKey, { ...REJECTED, phone }));
    }
    const sent: number[] = [];
    const send = async (message: OutgoingMessage) => {
      sent.push(message.applicationId);
      return accepted(message);
    };
    const worker = async () => {
      const context = deliveryContext(service, { send }, { limits: { ...LIMITS, messagesPerSecond: 200 } });
      await untilDone(async () => {
        if ((await database.query(OPEN)).rowCount === 0) return true;
        await (await deliverDue(context, new AbortController().signal)).concluded;
        await againAfterConflict(() => makeDue(database));
        return false;
      });
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    assert.deepEqual(sent.toSorted(), last.toSorted());
  });

  it('what the service remembers for this is forgotten when the messages wait no more', async () => {
    const remembered = async () => (await database.query('SELECT FROM waiting_rejections')).rowCount;
    const waits = await register(acme.apiKey, { ...REJECTED });
    await setMessages(database, [waits], { reason: 'contact_window', dueInMs: 3_600_000 });
    await register(acme.apiKey, { ...REJECTED });
    await forgetRejections(database);
    assert.equal(await remembered(), 2);
    await deliver();
    await forgetRejections(database);
    assert.equal(await remembered(), 1);
  });

  it('but not to an application without a message, nor to one of another partner', async () => {
    const silent = anApplication().phone;
    const first = await register(acme.apiKey, { ...REJECTED, phone: silent });
    await register(acme.apiKey, { phone: silent, messaging_optin: false });
    const shared = anApplication().phone;
    const second = await register(acme.apiKey, { ...REJECTED, phone: shared });
    const third = await register(bolt.apiKey, { phone: shared });
    assert.deepEqual((await deliver()).toSorted(), [first, second, third].toSorted());
  });
});

describe('the clock steps (D39, D42)', () => {
  const phones = async () => (await database.query('SELECT FROM recipients')).rowCount;

  it('a clock that was ahead: what was sent then counts, and the wait is a day from now', async () => {
    const { phone } = anApplication();
    for (const partner of [0, 1, 2]) await send(phone, partner);
    // As if all of it had been sent by a clock that was two days ahead.
    await shift('48 hours');
    assert.equal((await send(phone, 3))[1], false);
    await database.query(`UPDATE sender SET latest_at = ${shifted('now()', "interval '48 hours'")}`);
    assert.equal(await mendLeap(database), true);
    await shift('-23 hours -59 minutes');
    assert.equal((await send(phone, 4))[1], false);
    await shift('-2 minutes');
    assert.equal((await send(phone, 5))[1], true);
  });

  it('a clock that jumps a day ahead and back forgets nothing', async () => {
    const { phone } = anApplication();
    for (const partner of [0, 1]) await send(phone, partner);
    await shift('-25 hours');
    await send(phone, 2);
    await forgetRecipients(database);
    assert.equal(await phones(), 1);
    await shift('25 hours');
    await send(phone, 3);
    const { rows } = await database.query('SELECT cardinality(earlier_ids) AS earlier FROM recipients');
    assert.deepEqual(rows, [{ earlier: 2 }], 'three are within the day, so the fourth is not sent');
  });

  it('a phone keeps its last twenty messages', async () => {
    const { phone } = anApplication();
    for (let n = 0; n < 22; n += 1) {
      await shift('-30 hours');
      assert.equal((await send(phone, n % partners.length))[1], true);
    }
    const { rows } = await database.query(
      `SELECT cardinality(earlier_ids) AS ids, cardinality(earlier_at) AS at, cardinality(earlier_partners) AS partners,
        cardinality(earlier_rejected) AS rejected FROM recipients`,
    );
    assert.deepEqual(rows, [{ ids: 19, at: 19, partners: 19, rejected: 19 }]);
  });
});

describe('in a country with a limit of the calendar day (D42)', () => {
  const BEGAN = "date_trunc('minute', now()) - interval '10 hours'";
  const LIMITLESS = { rejectionsPerPhone: 20 };

  /** The windows of a country whose day began ten hours ago, at a full minute, and which is always open. */
  async function windows(
    most: number,
    types: readonly MessageType[] = MESSAGE_TYPES,
  ): Promise<ContactWindows> {
    const { rows } = await database.query<{ minute: number }>(
      `SELECT extract(epoch FROM ${BEGAN})::float8 / 60 AS minute`,
    );
    const began = rows[0]!.minute;
    const on = () => [{ start: 0, end: Number.MAX_SAFE_INTEGER }];
    return new Map([['CO', { types: new Set(types), on, messagesADay: most, dayBegan: () => began }]]);
  }
  const sentAt = (at: string) => database.query(`UPDATE recipients SET sent_at = ${at}`);

  it('a phone gets one message a day over all partners; the next is cancelled, and its application stands', async () => {
    const { phone } = anApplication();
    const one = await windows(1);
    assert.equal((await send(phone, 0, LIMITLESS, one))[1], true);
    const [second, isSent] = await send(phone, 1, LIMITLESS, one);
    assert.equal(isSent, false);
    assert.deepEqual(await states(second), ['rejected cancelled recipient_limit']);
    const other = anApplication();
    assert.equal((await send(other.phone, 1, LIMITLESS, one))[1], true, 'another phone');
  });

  it('a message at the beginning of the day counts, and one a microsecond before it does not', async () => {
    for (const [at, isSent] of [
      [BEGAN, false],
      [`${BEGAN} - interval '1 microsecond'`, true],
    ] as const) {
      const { phone } = anApplication();
      await send(phone, 0);
      const one = await windows(1);
      await sentAt(at);
      assert.equal((await send(phone, 1, LIMITLESS, one))[1], isSent, at);
      await database.query('DELETE FROM recipients');
    }
  });

  it('the number is that of the country, and the three of 24 hours hold beside it', async () => {
    const { phone } = anApplication();
    const two = await windows(2);
    const sent = [];
    for (const partner of [0, 1, 2]) sent.push((await send(phone, partner, LIMITLESS, two))[1]);
    assert.deepEqual(sent, [true, true, false]);
    const many = await windows(20);
    assert.equal((await send(phone, 3, LIMITLESS, many))[1], true);
    assert.equal((await send(phone, 4, LIMITLESS, many))[1], false);
  });

  it('types that the window does not bind are not limited by it', async () => {
    const { phone } = anApplication();
    const offers = await windows(1, ['offer']);
    for (const partner of [0, 1]) assert.equal((await send(phone, partner, LIMITLESS, offers))[1], true);
  });

  it('a time ahead of the clock counts as today, so a clock that steps back gives nothing', async () => {
    const { phone } = anApplication();
    await send(phone, 0);
    await sentAt("now() + interval '3 days'");
    assert.equal((await send(phone, 1, LIMITLESS, await windows(1)))[1], false);
  });

  it('two messages of two partners that are due in one turn: one goes out', async () => {
    const { phone } = anApplication();
    for (const { apiKey } of [acme, bolt]) await register(apiKey, { ...REJECTED, phone });
    assert.equal((await deliver(accepted, LIMITLESS, await windows(1))).length, 1);
  });
});
