/**
 * D40: reviews beside claims, sends, records, events and each other. In every order each message goes out once at most,
 * none says what is not true at the moment of sending, and the applicant hears of the last review.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { type MessageId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { ChannelStatus } from '../../src/domain/message/channel-event.ts';
import {
  formatCallback,
  interestPayload,
  type OutgoingMessage,
} from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { ANSWER_WITHIN_MS } from '../../src/subjects/messages/delivery/sending.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { beginSending } from '../../src/subjects/messages/sql/begin.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { testDatabase } from '../support/database.ts';
import { claimDue, deliveryContext, readyOf } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { assertInStep, endLeases, makeDue } from '../support/messages.ts';
import { Random } from '../support/random.ts';
import { messageOf, reviewsOn, TELLS } from '../support/reviewed.ts';
import { untilDone } from '../support/until-done.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { register, review, messages, statusOf, silentKey } = await reviewsOn(store);
const never = new AbortController().signal;
const NO_LIMITS = {
  messagesPerSecond: null,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};

const channelIdOf = (callback: string) => `wamid.${callback}`;
const acceptedOf = ({ callback }: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: channelIdOf(callback),
});

/** Sends of one application, and what was untrue of them. */
class Phone {
  readonly sent: string[] = [];
  /** The types of the sends that the channel did not refuse: they may be on the phone. */
  readonly arrived: string[] = [];
  readonly untrue: string[] = [];
  /** The sends without an answer, oldest first. */
  readonly open: { readonly message: OutgoingMessage; answer(result: SendResult): void }[] = [];
  readonly ends: Promise<void>[] = [];

  /** Takes up what is due. The sends wait for their answers. */
  async turn(): Promise<void> {
    // Whatever it answered before, the channel works.
    await database.query('UPDATE sender SET credit = 1000, alive_at = now(), failures = 0, broken_at = NULL');
    const looks: Promise<void>[] = [];
    const send = (message: OutgoingMessage) => {
      this.sent.push(message.type);
      looks.push(this.#look(message));
      return new Promise<SendResult>((answer) => this.open.push({ message, answer }));
    };
    const { concluded } = await deliverDue(deliveryContext(store, { send }), never);
    this.ends.push(concluded);
    await Promise.all(looks);
  }

  async #look({ applicationId, type }: OutgoingMessage): Promise<void> {
    const status = await statusOf(applicationId);
    if (status !== TELLS[type]) this.untrue.push(`${type} while ${status}`);
  }

  /** Answers the oldest send, and waits for the record. */
  async answer(result: (message: OutgoingMessage) => SendResult): Promise<void> {
    const send = this.open.shift();
    if (send === undefined) return;
    const said = result(send.message);
    if (said.kind === 'accepted' || said.kind === 'uncertain') this.arrived.push(send.message.type);
    send.answer(said);
    if (this.open.length === 0) await Promise.all(this.ends);
  }

  /** Goes on until nothing is due and no send is open. */
  async finish(): Promise<void> {
    let quiet = 0;
    await untilDone(async () => {
      await makeDue(database);
      const before = this.sent.length;
      await this.turn();
      while (this.open.length > 0) await this.answer(acceptedOf);
      quiet = this.sent.length === before ? quiet + 1 : 0;
      return quiet === 2;
    });
    await Promise.all(this.ends);
  }
}

const tell = (message: MessageId, status: ChannelStatus) => {
  const callback = formatCallback(message, 1);
  const failure = status === 'failed' ? ({ kind: 'retry', reason: '131000' } as const) : null;
  const event = { kind: 'status', channelMessageId: channelIdOf(callback), callback, status } as const;
  return applyChannelEvents({ database, vault }, [{ ...event, at: new Date(), failure }]);
};

interface Act {
  readonly name: string;
  readonly run: (phone: Phone, application: { id: number; phone: string }) => Promise<unknown>;
}
const TURN: Act = { name: 'turn', run: (phone) => phone.turn() };
const APPROVE: Act = { name: 'approve', run: (_, { id }) => review(id, 'approve') };
const REJECT: Act = { name: 'reject', run: (_, { id }) => review(id, 'reject') };
const ANSWERS: readonly Act[] = [
  { name: 'accepted', run: (phone) => phone.answer(acceptedOf) },
  {
    name: 'refused for now',
    run: (phone) => phone.answer(() => ({ kind: 'retry', reason: '1', afterMs: 0 })),
  },
  { name: 'refused', run: (phone) => phone.answer(() => ({ kind: 'give_up', reason: '1' })) },
  { name: 'no answer', run: (phone) => phone.answer(() => ({ kind: 'uncertain', reason: 'timeout' })) },
  {
    name: 'the worker dies',
    run: async () => {
      await endLeases(database);
      await findLost(database, 0);
    },
  },
];
const EVENTS: readonly Act[] = [
  { name: 'delivered', run: (_, { id }) => tell(messageOf(id, 'offer'), 'delivered') },
  { name: 'failed', run: (_, { id }) => tell(messageOf(id, 'offer'), 'failed') },
  {
    name: 'tap',
    run: (_, { id, phone }) =>
      applyChannelEvents({ database, vault }, [
        {
          kind: 'tap',
          payload: interestPayload(toApplicationId(id)),
          title: null,
          contextMessageId: null,
          from: toPhone(phone),
          at: new Date(),
        },
      ]),
  },
];

/** `STORIES=all` runs every order. */
const RUNS_ALL = process.env.STORIES === 'all';
const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));
const random = new Random(SEED);
const ORDERS_EACH = 8;

/** A few of the orders, others in each run; `SEED`, which the failure names, gives the same again. */
function someOf(orders: readonly Act[][]): readonly Act[][] {
  return RUNS_ALL ? orders : random.shuffled(orders).slice(0, ORDERS_EACH);
}

const storyOf = (order: readonly Act[]) => `${order.map(({ name }) => name).join(', ')} (SEED=${SEED})`;

/** All orders in which the acts of each list keep their order. */
function interleavings(lists: readonly (readonly Act[])[]): Act[][] {
  const left = lists.filter((list) => list.length > 0);
  if (left.length === 0) return [[]];
  return left.flatMap((list) => {
    const others = left.map((other) => (other === list ? other.slice(1) : other));
    return interleavings(others).map((rest) => [list[0]!, ...rest]);
  });
}

describe('orders of a turn, its answer, an event and one or two reviews', () => {
  for (const answer of ANSWERS) {
    // One answer is enough for the tap, which concerns no message.
    for (const event of EVENTS.filter(({ name }) => name !== 'tap' || answer === ANSWERS[0])) {
      const orders = someOf(
        [[APPROVE, REJECT], [APPROVE]].flatMap((reviews) =>
          interleavings([[TURN, answer], [event], reviews]),
        ),
      );
      it(`D40: ${answer.name}, ${event.name}`, async () => {
        for (const order of orders) {
          const application = await register();
          const phone = new Phone();
          for (const act of order) await act.run(phone, application);
          while (phone.open.length > 0) await phone.answer(acceptedOf);
          await phone.finish();
          const story = storyOf(order);
          assert.deepEqual(phone.untrue, [], story);
          // An offer that the channel reports as failed goes out again, if no review came before.
          const offers = phone.arrived.filter((type) => type === 'offer').length;
          assert.ok(offers <= (event.name === 'failed' ? 2 : 1), `${story}: ${phone.arrived}`);
          const others = phone.arrived.filter((type) => type !== 'offer');
          assert.deepEqual([...new Set(others)], others, story);
          const last = order.includes(REJECT) ? 'rejected' : 'approved';
          assert.ok(phone.sent.includes(last), story);
          const end = new RegExp(`^${last} (accepted|failed|uncertain)`);
          assert.match((await messages(application.id)).at(-1)!, end, story);
          await assertInStep(database);
        }
      });
    }
  }
});

describe('the same under a key whose brand asks for no second message', () => {
  for (const answer of ANSWERS) {
    it(`D40: ${answer.name}: the applicant gets one message, and it is true when it goes out`, async () => {
      for (const order of interleavings([
        [TURN, answer],
        [APPROVE, REJECT],
      ])) {
        const application = await register({}, silentKey);
        const phone = new Phone();
        for (const act of order) await act.run(phone, application);
        while (phone.open.length > 0) await phone.answer(acceptedOf);
        await phone.finish();
        const story = storyOf(order);
        assert.deepEqual(phone.untrue, [], story);
        const states = await messages(application.id);
        const mayHaveArrived = states.filter((state) => /accepted|uncertain/.test(state));
        if (answer.name === 'refused') assert.ok(mayHaveArrived.length <= 1, `${story}: ${states}`);
        else assert.equal(mayHaveArrived.length, 1, `${story}: ${states}`);
        await assertInStep(database);
      }
    });
  }
});

it('D40: an offer that is claimed just before the approval goes out as an offer, and the approval waits for the claim and follows', async () => {
  await new Phone().finish();
  const { id } = await register();
  let approval: Promise<unknown> = Promise.resolve();
  const begun = await claimDue(
    { database, vault, clock: machineClock },
    250,
    null,
    async (claimed, claim) => {
      approval = review(id, 'approve');
      approval.catch(() => {});
      await eventually('the review to wait', async () => (await waitingSessions(database)).length > 0);
      return beginSending(claim, readyOf(claimed), null, NO_LIMITS, ANSWER_WITHIN_MS);
    },
  );
  assert.equal(begun?.size, 1);
  await approval;
  assert.deepEqual(await messages(id), ['offer sending', 'approved queued']);
  await endLeases(database);
  await findLost(database, 0);
  await new Phone().finish();
});

it('D40: while a review is under way no worker takes the message up', async () => {
  const { id } = await register();
  const phone = new Phone();
  await inTransaction(database, async (session) => {
    await session.query(
      "SELECT * FROM move_application($1, '{in_review}', 'pending_signature', 'ana', 'approve', 'x', 'unspecified', NULL, false)",
      [id],
    );
    await phone.turn();
  });
  assert.deepEqual(phone.sent, []);
  await phone.finish();
  assert.deepEqual(phone.sent, ['approved']);
});

it('D40: of reviews at once one moves the application, and there is one message of each', async () => {
  for (let round = 0; round < 10; round += 1) {
    const application = await register();
    const phone = new Phone();
    const outcomes = await Promise.allSettled([
      review(application.id, 'approve'),
      review(application.id, 'approve'),
      review(application.id, 'reject'),
      phone.turn(),
      tell(messageOf(application.id, 'offer'), 'sent'),
    ]);
    assert.equal(outcomes[3]!.status, 'fulfilled');
    while (phone.open.length > 0) await phone.answer(acceptedOf);
    await phone.finish();
    assert.deepEqual([...new Set(phone.arrived)], phone.arrived);
    const last = (await messages(application.id)).at(-1)!;
    const status = await statusOf(application.id);
    assert.match(last, new RegExp(`^${status === 'rejected' ? 'rejected' : 'approved'} accepted$`));
    await assertInStep(database);
  }
});
