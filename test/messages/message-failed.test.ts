/** D41: `message.failed` is told once for each message that fails, in the transaction that makes it failed. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type MessageId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { SendFailure, SendResult } from '../../src/domain/message/channel.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { formatCallback, type OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { type DeliveryContext, deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { setAside } from '../../src/subjects/messages/sql/deferral.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { makeDue, setMessages } from '../support/messages.ts';
import { messageOf, reviewsOn } from '../support/reviewed.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { register, review, messages } = await reviewsOn(store);
const never = new AbortController().signal;
const GIVEN_UP = { kind: 'give_up', reason: '131026' } as const;

const channelIdOf = (callback: string) => `wamid.${callback}`;
const accepted = ({ callback }: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: channelIdOf(callback),
});

async function turn(
  answer: (message: OutgoingMessage) => SendResult,
  changes: Partial<DeliveryContext> = {},
): Promise<void> {
  const send = async (message: OutgoingMessage) => answer(message);
  await (await deliverDue(deliveryContext(store, { send }, changes), never)).concluded;
}

function failed(message: MessageId, failure: SendFailure, withCallback = true): ChannelEvent {
  const callback = formatCallback(message, 1);
  return {
    kind: 'status',
    channelMessageId: channelIdOf(callback),
    callback: withCallback ? callback : null,
    ...{ status: 'failed', at: new Date(), failure },
  };
}
const apply = (...events: ChannelEvent[]) => applyChannelEvents({ database, vault }, events);

/** The events of an application's messages, as `type reason`. */
async function told(id: number): Promise<string[]> {
  const { rows } = await database.query<{ message_type: string; reason_code: string | null }>(
    "SELECT message_type, reason_code FROM partner_events WHERE type = 'message.failed' AND application_id = $1 ORDER BY number",
    [id],
  );
  return rows.map(({ message_type, reason_code }) => `${message_type} ${reason_code}`);
}

beforeEach(async () => {
  await database.query(
    "UPDATE sender SET credit = 1000, alive_at = now() + interval '1 hour', failures = 0, broken_at = NULL",
  );
  await makeDue(database);
  await turn(accepted);
});

describe('a message that fails is told', () => {
  const unsendable = { reason: 'unsendable', afterMs: 0 } as const;
  const WAYS: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
    'refused for good': () => turn(() => GIVEN_UP),
    'refused for now in its last try': async (id) => {
      await setMessages(database, [id], { attempts: 15 });
      await makeDue(database);
      await turn(() => ({ kind: 'retry', reason: '131000' }));
    },
    'of a phone that opted out': () => turn(() => ({ kind: 'opted_out', reason: '131050' })),
    'whose record is already there': async (id) => {
      await turn(({ messageId }) => {
        assert.equal(messageId, String(id));
        return { kind: 'uncertain', reason: 'timeout' };
      });
      await apply(failed(messageOf(id, 'offer'), GIVEN_UP));
    },
    'by an event that names it, before the answer': async (id) => {
      let early: Promise<unknown> = Promise.resolve();
      const send = async (message: OutgoingMessage) => {
        early = apply(failed(message.messageId, GIVEN_UP));
        await early;
        return accepted(message);
      };
      await (await deliverDue(deliveryContext(store, { send }), never)).concluded;
      await apply(failed(messageOf(id, 'offer'), GIVEN_UP));
    },
    'by an event without a name, before the answer': async (id) => {
      const send = async (message: OutgoingMessage) => {
        await apply(failed(message.messageId, { kind: 'opted_out', reason: '131050' }, false));
        return accepted(message);
      };
      await (await deliverDue(deliveryContext(store, { send }), never)).concluded;
      await apply(failed(messageOf(id, 'offer'), GIVEN_UP, false));
    },
    'with an envelope that does not open': async (id) => {
      await database.query("UPDATE batches SET envelope = '\\x00' WHERE id = $1::bigint >> 7", [id]);
      await turn(accepted, { onFault: () => {} });
    },
    'with a record and an envelope that does not open': async (id) => {
      await setMessages(database, [id], { attempts: 1 });
      await makeDue(database);
      await database.query("UPDATE batches SET envelope = '\\x00' WHERE id = $1::bigint >> 7", [id]);
      await turn(accepted, { onFault: () => {} });
    },
    'set aside for the last time': async (id) => {
      await setAside(database, messageOf(id, 'offer'), { maxTries: 2, ...unsendable });
      assert.deepEqual(await told(id), []);
      await setAside(database, messageOf(id, 'offer'), { maxTries: 2, ...unsendable });
      await setAside(database, messageOf(id, 'offer'), { maxTries: 2, ...unsendable });
    },
  };
  for (const [name, fail] of Object.entries(WAYS)) {
    it(`D41: once, ${name}`, async () => {
      const { id } = await register();
      await fail(id);
      assert.match((await messages(id))[0]!, /^offer failed/);
      assert.deepEqual(await told(id), ['offer null']);
    });
  }

  it('D41: again where an operator queued it again, and by the type of the message', async () => {
    const { id } = await register();
    await turn(() => GIVEN_UP);
    await retryMessages(database, toApplicationId(id));
    await turn(() => GIVEN_UP);
    assert.deepEqual(await told(id), ['offer null', 'offer null']);
    await review(id, 'approve');
    await turn(() => GIVEN_UP);
    assert.deepEqual(await told(id), ['offer null', 'offer null', 'approved null']);
  });

  it('D41: not for other ends', async () => {
    const { id } = await register();
    await turn(accepted);
    await apply(failed(messageOf(id, 'offer'), { kind: 'retry', reason: '131000' }));
    await review(id, 'reject');
    assert.deepEqual(await messages(id), ['offer cancelled (replaced)', 'rejected queued']);
    await turn(() => ({ kind: 'uncertain', reason: 'timeout' }));
    assert.deepEqual(await told(id), []);
  });
});

it('D41: the event and the state of its message commit together', async () => {
  const { id } = await register();
  await inTransaction(database, async (session) => {
    await session.query('LOCK TABLE partner_event_totals');
    const ending = turn(() => GIVEN_UP);
    await eventually('the record to wait', async () => (await waitingSessions(database)).length > 0);
    assert.deepEqual(await messages(id), ['offer sending']);
    return { ending };
  }).then(({ ending }) => ending);
  assert.deepEqual([await messages(id), await told(id)], [['offer failed (131026)'], ['offer null']]);
});
