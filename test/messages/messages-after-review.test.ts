/** D40: what a review does with the messages of its application, and how the new message goes out. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type MessageId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { contactWindows } from '../../src/domain/message/contact-window.ts';
import type { MessageStatus } from '../../src/domain/message/notify.ts';
import {
  formatCallback,
  interestPayload,
  type OutgoingMessage,
} from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { channelIndexOf } from '../../src/seal/blind-indexes.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { pauseTemplate, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { assertInStep, makeDue, passTime, setMessages } from '../support/messages.ts';
import { messageOf, reviewsOn } from '../support/reviewed.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, vault } = store;
const { run, json } = commandLine(store);
const { register, review, messages, key, silentKey } = await reviewsOn(store);
const never = new AbortController().signal;
const NO_LIMITS = {
  messagesPerSecond: null,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};

const channelIdOf = ({ callback }: Pick<OutgoingMessage, 'callback'>) => `wamid.${callback}`;
const accepted = (message: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: channelIdOf(message),
});

/** A turn with its answers and records; gives `<type>` of each message that went out. */
async function turn(
  answer: (message: OutgoingMessage) => SendResult = accepted,
  changes: Parameters<typeof deliveryContext>[2] = {},
): Promise<string[]> {
  const sent: OutgoingMessage[] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message);
    return answer(message);
  };
  const { concluded } = await deliverDue(deliveryContext(store, { send }, changes), never);
  await concluded;
  return sent.map(({ type }) => type);
}

function statusEvent(
  message: MessageId,
  status: 'delivered' | 'failed',
  failure: (ChannelEvent & { kind: 'status' })['failure'] = null,
  withCallback = true,
): ChannelEvent {
  const callback = formatCallback(message, 1);
  const at = new Date();
  return {
    kind: 'status',
    channelMessageId: channelIdOf({ callback }),
    callback: withCallback ? callback : null,
    ...{ status, at, failure },
  };
}

/** Everything is sent or ended, so that a turn of the next test takes up only its own messages. */
beforeEach(async () => {
  await database.query('UPDATE sender SET credit = 1000, alive_at = now(), failures = 0, broken_at = NULL');
  await makeDue(database);
  await untilDone(async () => (await turn()).length === 0);
});

describe('a review', () => {
  /** How the first message comes into a state, and whether it has gone out then, or may have. */
  const STATES: Readonly<Record<string, { status: MessageStatus; goneOut: boolean; put?: boolean }>> = {
    'queued and untouched': { status: 'queued', goneOut: false },
    'queued with a record': { status: 'queued', goneOut: false, put: true },
    sending: { status: 'sending', goneOut: true, put: true },
    uncertain: { status: 'uncertain', goneOut: true, put: true },
    accepted: { status: 'accepted', goneOut: true, put: true },
    sent: { status: 'sent', goneOut: true, put: true },
    delivered: { status: 'delivered', goneOut: true, put: true },
    read: { status: 'read', goneOut: true, put: true },
    failed: { status: 'failed', goneOut: false, put: true },
    cancelled: { status: 'cancelled', goneOut: false, put: true },
  };
  const REVIEWS = [
    { first: 'offer', action: 'approve', second: 'approved', changes: {} },
    { first: 'offer', action: 'reject', second: 'rejected', changes: {} },
    { first: 'approved', action: 'reject', second: 'rejected', changes: APPROVED },
  ] as const;

  /** What a state means is the same for each review: every state with one review, and every review with two states. */
  const isTried = (state: string, review: (typeof REVIEWS)[number]) =>
    review === REVIEWS[0] || state === 'queued and untouched' || state === 'delivered';

  for (const [name, { status, goneOut, put = false }] of Object.entries(STATES)) {
    for (const one of REVIEWS.filter((some) => isTried(name, some))) {
      const { first, action, second, changes } = one;
      for (const follows of [true, false]) {
        const isNew = follows || !goneOut;
        const rule = `${action} while "${first}" is ${name}, after_review ${follows}: ${isNew ? `"${second}" is queued` : 'no second message'}`;
        it(`D40: ${rule}`, async () => {
          const { id } = await register(changes, follows ? key : silentKey);
          if (put) await setMessages(database, [id], { status, reason: null, dueInMs: 3_600_000 });
          await review(id, action);
          const left = status === 'queued' ? `${first} cancelled (replaced)` : `${first} ${status}`;
          assert.deepEqual(await messages(id), [left, ...(isNew ? [`${second} queued`] : [])]);
          await assertInStep(database);
          await setMessages(database, [id], { status: 'cancelled', reason: 'operator' });
        });
      }
    }
  }

  it('D40: each of two reviews leads to its message, in the order of the reviews', async () => {
    const { id } = await register();
    assert.deepEqual(await turn(), ['offer']);
    await review(id, 'approve');
    assert.deepEqual(await turn(), ['approved']);
    await review(id, 'reject');
    assert.deepEqual(await turn(), ['rejected']);
    assert.deepEqual(await turn(), []);
    assert.deepEqual(await messages(id), ['offer accepted', 'approved accepted', 'rejected accepted']);
  });

  it('D40: the second of two reviews replaces the message of the first, also that of a brand without second messages', async () => {
    for (const under of [key, silentKey]) {
      const { id } = await register({}, under);
      await review(id, 'approve');
      await review(id, 'reject');
      assert.deepEqual(await turn(), ['rejected']);
      assert.deepEqual(await messages(id), [
        'offer cancelled (replaced)',
        'approved cancelled (replaced)',
        'rejected accepted',
      ]);
    }
  });

  it('D40: nothing is sent at the disbursement; a message that waits is cancelled', async () => {
    const { id } = await register();
    assert.deepEqual(await turn(), ['offer']);
    await review(id, 'approve');
    await review(id, 'disburse');
    assert.deepEqual(await turn(), []);
    assert.deepEqual(await messages(id), ['offer accepted', 'approved cancelled (application_closed)']);
  });

  it('D40: without consent or without a phone there is no message', async () => {
    for (const changes of [{ messaging_optin: false }, { phone: null }]) {
      const { id } = await register(changes);
      await review(id, 'approve');
      await review(id, 'reject');
      assert.deepEqual(await messages(id), []);
    }
  });

  it('D40: an erased applicant gets no message', async () => {
    const { id } = await register();
    await database.query('UPDATE batches SET envelope = NULL WHERE id = $1::bigint >> 7', [id]);
    await review(id, 'approve');
    assert.deepEqual(await turn(), []);
    assert.deepEqual((await messages(id)).at(-1), 'approved cancelled (erased)');
  });
});

describe('the message after a review', () => {
  /** An application whose offer is on the phone, and which is approved. */
  async function approved(): Promise<{ id: number; phone: string }> {
    const application = await register();
    assert.deepEqual(await turn(), ['offer']);
    await review(application.id, 'approve');
    return application;
  }
  const last = async (id: number) => (await messages(id)).at(-1);

  it('D40: a suppressed phone gets none', async () => {
    const { id, phone } = await approved();
    await run('suppression', 'add', phone);
    assert.deepEqual(await turn(), []);
    assert.equal(await last(id), 'approved cancelled (suppressed)');
  });

  it('D40: it keeps its distance from the message before', async () => {
    const { id } = await approved();
    const limits = { ...NO_LIMITS, pairMs: 60_000 };
    assert.deepEqual(await turn(accepted, { limits }), []);
    assert.equal(await last(id), 'approved queued (pair_limit)');
    await passTime(database, [id], 61_000);
    await database.query(
      "UPDATE message_records SET changed_at = now() - interval '61 s' WHERE message_id = $1",
      [id],
    );
    await makeDue(database);
    assert.deepEqual(await turn(accepted, { limits }), ['approved']);
  });

  it('D40: it waits for the contact window, for its template and for the number of recipients', async () => {
    const { id } = await approved();
    const closed = {
      sunday: [],
      monday: [],
      tuesday: [],
      wednesday: [],
      thursday: [],
      friday: [],
      saturday: [],
    };
    const windows = contactWindows(
      {
        CO: {
          ...{ zones: ['America/Bogota'], hours: closed, closed_on_public_holidays: false, closed_dates: [] },
          ...{ open_dates: {}, message_types: ['approved', 'offer', 'rejected'] },
        },
      },
      () => new Set(),
    );
    await turn(accepted, { windows });
    assert.equal(await last(id), 'approved queued (contact_window)');
    await makeDue(database);
    await pauseTemplate(database, 'ventanilla_approved', '1');
    await turn();
    assert.equal(await last(id), 'approved queued (template_paused)');
    await resumeTemplate(database, 'ventanilla_approved');
    const stranger = await register();
    await review(stranger.id, 'approve');
    // The phone of the first application is among the recipients already, that of the other is new.
    const { rows } = await database.query('SELECT count(*)::integer AS count FROM recipients');
    await turn(accepted, { limits: { ...NO_LIMITS, recipientsPerDay: rows[0].count } });
    assert.equal(await last(id), 'approved accepted');
    assert.equal(await last(stranger.id), 'approved queued (daily_recipients)');
  });

  it('D40: an event moves the message that it is about, whether it names the message or has only the id of the channel', async () => {
    for (const withCallback of [true, false]) {
      const { id } = await approved();
      assert.deepEqual(await turn(), ['approved']);
      const tell = (message: MessageId) =>
        applyChannelEvents({ database, vault }, [statusEvent(message, 'delivered', null, withCallback)]);
      await tell(messageOf(id, 'offer'));
      assert.deepEqual(await messages(id), ['offer delivered', 'approved accepted']);
      await tell(messageOf(id, 'approved'));
      assert.deepEqual(await messages(id), ['offer delivered', 'approved delivered']);
    }
  });

  it('D40: a tap on the offer counts after the approval too, by the phone and by the message', async () => {
    for (const byPhone of [true, false]) {
      const { id, phone } = await approved();
      assert.deepEqual(await turn(), ['approved']);
      const tap: ChannelEvent = {
        kind: 'tap',
        payload: interestPayload(toApplicationId(id)),
        title: null,
        contextMessageId: channelIdOf({ callback: formatCallback(messageOf(id, 'offer'), 1) }),
        from: toPhone(byPhone ? phone : '+573119999999'),
        at: new Date(),
      };
      assert.equal((await applyChannelEvents({ database, vault }, [tap])).interested, 1);
      assert.equal((await applyChannelEvents({ database, vault }, [tap])).interested, 0);
    }
  });

  it('D40: an operator lists, shows, retries and cancels every message of the application', async () => {
    const { id } = await approved();
    await setMessages(database, [id], { status: 'failed', reason: '131026' });
    const states = async (...args: string[]) =>
      (await json('message', ...args)).map(
        (one: { type: string; status: string }) => `${one.type} ${one.status}`,
      );
    assert.deepEqual(await states('show', `${id}`), ['approved queued', 'offer failed']);
    assert.deepEqual((await states('list')).slice(0, 2), ['approved queued', 'offer failed']);
    assert.deepEqual(await states('list', '--status', 'failed', '--application', `${id}`), ['offer failed']);
    assert.deepEqual(await states('cancel', `${id}`), ['approved cancelled']);
    assert.match(
      (await run('message', 'cancel', `${id}`)).err,
      new RegExp(
        `no message of application ${id} can be cancelled: "offer" is failed, "approved" is cancelled`,
      ),
    );
    assert.deepEqual(await states('retry', `${id}`), ['offer queued']);
    const shown = await json('application', 'show', `${id}`);
    assert.deepEqual(
      shown.messages.map(({ type, status, reason }: Record<string, string>) => [type, status, reason]),
      [
        ['offer', 'queued', 'operator'],
        ['approved', 'cancelled', 'operator'],
      ],
    );
    assert.match(
      (await run('application', 'show', `${id}`)).out,
      /^Messages +offer, queued \(operator\); approved, cancelled \(operator\)$/m,
    );
  });
});

describe('at the moment of sending', () => {
  it('D40: an offer of an application that is approved is not sent, though an operator or the channel queued it again', async () => {
    const ways = {
      operator: async (id: number) => {
        await setMessages(database, [id], { status: 'failed' });
        await review(id, 'approve');
        await retryMessages(database, toApplicationId(id));
      },
      event: async (id: number) => {
        await turn();
        await review(id, 'approve');
        const failure = { kind: 'retry', reason: '131000' } as const;
        await applyChannelEvents({ database, vault }, [
          statusEvent(messageOf(id, 'offer'), 'failed', failure),
        ]);
        await makeDue(database);
      },
    };
    for (const way of Object.values(ways)) {
      const { id } = await register();
      await way(id);
      // Two messages to one phone go out in two turns.
      assert.deepEqual([...(await turn()), ...(await turn())], ['approved']);
      assert.deepEqual(await messages(id), ['offer cancelled (replaced)', 'approved accepted']);
      await assertInStep(database);
    }
  });

  it('D40: a message that arrived in spite of its cancellation counts as delivered', async () => {
    const { id } = await register();
    await setMessages(database, [id], {
      status: 'queued',
      attempts: 1,
      channelMessageId: channelIndexOf(vault, 'wamid.late'),
    });
    await review(id, 'approve');
    await applyChannelEvents({ database, vault }, [statusEvent(messageOf(id, 'offer'), 'delivered')]);
    assert.deepEqual(await messages(id), ['offer delivered', 'approved queued']);
  });
});
