/**
 * Real workers send each message once, or the message ends with a reason, with any fault and any kill of a worker.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { ANSWER_WITHIN_MS } from '../../src/subjects/messages/delivery/sending.ts';
import { SETTLE_AFTER_MS } from '../../src/subjects/messages/rules/after-send.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { cancelMessages, retryMessages } from '../../src/subjects/messages/uses/messages.ts';
import { addFaults, FAULT_CLASSES } from '../support/channel-faults.ts';
import { runToEnd, tally } from '../support/delivery-run.ts';
import { passTime } from '../support/messages.ts';
import { statusWebhook } from '../support/whatsapp-api.ts';
import {
  beforeCommit,
  beforeRecord,
  beforeRequest,
  blockade,
  duringCommit,
  duringRecord,
  type ReachMoment,
  whileSending,
} from './delivery-moments.ts';
import { type Delivery, startDelivery } from './delivery-support.ts';
import { until, type Variables } from './support.ts';

interface Case {
  readonly name: string;
  readonly messages: number;
  readonly at: ReachMoment;
  /**
   * The status of each message after the worker's death, and the number of times that the API had taken the message.
   */
  readonly left: readonly [status: 'queued' | 'sending' | 'accepted', sends: 0 | 1];
  /** Settles a message that became uncertain. */
  readonly settle?: (delivery: Delivery, ids: readonly number[]) => Promise<void>;
  readonly end: string;
}

const CASES: readonly Case[] = [
  {
    name: 'after the claim, before the commit',
    messages: 3,
    at: beforeCommit,
    left: ['queued', 0],
    end: 'the next worker sends',
  },
  {
    name: 'while the commit is under way',
    messages: 3,
    at: duringCommit,
    left: ['sending', 0],
    settle: retried,
    end: 'uncertain, and an operator has it sent',
  },
  {
    name: 'after the commit, before a request is written',
    messages: 3,
    at: beforeRequest,
    left: ['sending', 0],
    settle: cancelled,
    end: 'uncertain, and an operator cancels it',
  },
  {
    name: 'while the API, which took them, holds the requests',
    messages: 3,
    at: whileSending,
    left: ['sending', 1],
    settle: settledByEvent,
    end: 'uncertain, and an event settles it',
  },
  {
    name: 'after the answer, before the record',
    messages: 3,
    at: beforeRecord,
    left: ['sending', 1],
    settle: settledByEvent,
    end: 'uncertain, and an event settles it',
  },
  {
    name: 'after it asked for the record',
    // The first message is recorded alone. Others would wait for a next statement, which does not come.
    messages: 1,
    at: duringRecord,
    left: ['accepted', 1],
    end: 'recorded',
  },
];

/** These tests mostly wait. */
describe('D33: delivery by worker processes', { concurrency: 2 }, () => {
  test('two workers send each message once and together keep to the sender’s rate', async () => {
    const delivery = await startDelivery(2);
    const { apis, register, service } = delivery;
    const rate = 200;
    const count = 600;
    const ids = await register(count);
    // The lock makes both workers begin to send at the same moment.
    const sender = await blockade(service.database, 'SELECT FROM sender FOR UPDATE');
    const workers = await startWorkers(delivery, { MESSAGES_PER_SECOND: String(rate) });
    await sender.reached(2);
    await sender.end();
    await until('every message to have its end', async () => {
      const states = await delivery.statesOf(ids);
      return states.every((state) => !/^(queued|sending)/.test(state));
    });
    const states = await delivery.statesOf(ids);
    await workers.kill();
    const taken = apis
      .flatMap(({ accepted }) => [...accepted.values()].flat())
      .map(({ callback }) => callback);
    assert.equal(new Set(taken).size, taken.length);
    for (const [index, id] of ids.entries()) {
      // On a busy machine an answer or its connection may come too late, so the message may be sent or not.
      assert.match(states[index] as string, /^(accepted|uncertain (timeout|connection_lost))$/);
      if (states[index] === 'accepted') assert.ok(taken.includes(`${id}.1`), `${id} is accepted`);
    }
    assert.ok(taken.every((callback) => ids.some((id) => callback === `${id}.1`)));
    for (const { accepted } of apis) assert.ok(accepted.size > 0, 'one did nothing');

    // The begin of each send by the database's clock. Any interval has at most the rate and one burst.
    const { rows } = await service.database.query<{ at: number; sent: number }>(
      `SELECT extract(epoch FROM sent_at)::float8 AS at, count(*)::integer AS sent FROM recipients
      GROUP BY sent_at ORDER BY sent_at`,
    );
    for (const [index, from] of rows.entries()) {
      let sent = 0;
      for (const to of rows.slice(index)) {
        sent += to.sent;
        const seconds = to.at - from.at;
        assert.ok(sent <= rate + rate * seconds + 0.01, `${sent} in ${seconds} s`);
      }
    }
  });

  test('two workers lose no message and send none twice while a tenth of the sends fail', async () => {
    const delivery = await startDelivery(2);
    const { apis, register, service, webhookUrl } = delivery;
    const faults = addFaults(apis, webhookUrl, { share: 0.1, silent: 2 });
    const ids = await register(2_000);
    const workers = await startWorkers(delivery);
    await runToEnd(service.database, faults, 200_000);
    await workers.kill();

    const { states, sends, wrong } = await tally(service.database, ids, apis, faults.failed);
    assert.deepEqual(wrong, []);
    assert.deepEqual([...faults.counts.keys()].sort(), [...FAULT_CLASSES.keys()].sort());
    for (const status of ['accepted', 'sent', 'read', 'failed', 'uncertain'] as const) {
      assert.ok((states[status] ?? 0) > 0, `none is ${status}`);
    }
    assert.ok((sends[1] ?? 0) > 1_900, `${sends[1]} were sent`);
  });

  for (const { name, messages, at, left, settle, end } of CASES) {
    test(`killed ${name}: ${end}`, async () => {
      const delivery = await startDelivery();
      const { apis, service, startWorker, statesOf } = delivery;
      const ids = await delivery.register(messages);
      const [status, sends] = left;
      const moment = await at(delivery, ids);
      const first = await startWorker(moment.variables);
      await moment.reached();
      await first.kill();
      await moment.afterwards?.();
      Object.assign(apis[0], { fault: null, onAccept: null });
      assert.deepEqual(await statesOf(ids), each(ids, status));
      assertSends(delivery, ids, sends);

      const second = await startWorker();
      await sendOneMore(delivery);
      if (settle === undefined) {
        assert.deepEqual(await statesOf(ids), each(ids, 'accepted'));
        assertSends(delivery, ids, 1);
        return second.kill();
      }
      assert.deepEqual(await statesOf(ids), each(ids, 'sending'), 'its time is not over');
      await passTime(delivery.service.database, ids, ANSWER_WITHIN_MS);
      await findLost(service.database, SETTLE_AFTER_MS);
      assert.deepEqual(await statesOf(ids), each(ids, 'uncertain no_record'));
      await sendOneMore(delivery);
      assertSends(delivery, ids, sends);
      await settle(delivery, ids);
      await second.kill();
    });
  }
});

/** Each worker sends to its own stand-in, which shows that both work. */
async function startWorkers({ apis, startWorker }: Delivery, variables: Variables = {}) {
  const workers = await Promise.all(
    apis.map(({ environment }) => startWorker({ ...environment, ...variables })),
  );
  return { kill: () => Promise.all(workers.map((worker) => worker.kill())) };
}

async function settledByEvent(delivery: Delivery, ids: readonly number[]): Promise<void> {
  const { apis, webhookUrl, statesOf, takenOf } = delivery;
  const events = ids.flatMap(takenOf).map(({ id, callback }) => ({ id, callback, status: 'sent' }) as const);
  assert.deepEqual(await apis[0].deliver(webhookUrl, [statusWebhook(...events)]), [200]);
  assert.deepEqual(await statesOf(ids), each(ids, 'sent'));
  await sendOneMore(delivery);
  assertSends(delivery, ids, 1);
}

async function retried(delivery: Delivery, ids: readonly number[]): Promise<void> {
  const { service, statesOf, takenOf } = delivery;
  const operator = { ...service, actor: 'test' };
  for (const id of ids)
    await assert.rejects(retryMessages(operator, toApplicationId(id)), /cannot be sent again before/);
  await passTime(delivery.service.database, ids, SETTLE_AFTER_MS);
  for (const id of ids) await retryMessages(operator, toApplicationId(id));
  await until('the retries', async () => (await statesOf(ids)).every((state) => state === 'accepted'));
  assert.deepEqual(
    ids.flatMap(takenOf).map(({ callback }) => callback),
    ids.map((id) => `${id}.2`),
  );
}

async function cancelled(delivery: Delivery, ids: readonly number[]): Promise<void> {
  const operator = { ...delivery.service, actor: 'test' };
  for (const id of ids)
    await assert.rejects(cancelMessages(operator, toApplicationId(id)), /cannot be cancelled before/);
  await passTime(delivery.service.database, ids, SETTLE_AFTER_MS);
  for (const id of ids) await cancelMessages(operator, toApplicationId(id));
  await sendOneMore(delivery);
  assert.deepEqual(await delivery.statesOf(ids), each(ids, 'cancelled operator'));
  assertSends(delivery, ids, 0);
}

const each = <T>(ids: readonly number[], value: T): T[] => ids.map(() => value);

function assertSends({ takenOf }: Delivery, ids: readonly number[], sends: number): void {
  assert.deepEqual(
    ids.map((id) => takenOf(id).length),
    each(ids, sends),
  );
}

/** Registers one more message and waits until all messages that are due are sent and recorded. */
async function sendOneMore({ service, register, statesOf }: Delivery): Promise<void> {
  const ids = await register(1);
  await until('one more message', async () => (await statesOf(ids))[0] === 'accepted');
  await until('what was due', async () => {
    const { rows } = await service.database.query("SELECT FROM messages WHERE status = 'queued'");
    return rows.length === 0;
  });
}
