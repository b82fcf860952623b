/**
 * Which `rejected` messages wait (`waiting_rejections`): a message that waits gives way to a later one of the same
 * partner to the same phone (D42), also where the later one was sent before and waits again.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import { formatCallback, type OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { changeSelection } from '../../src/subjects/messages/sql/changes/message-selection.ts';
import { forgetRejections } from '../../src/subjects/messages/sql/upkeep.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { makeDue, setMessages } from '../support/messages.ts';
import { emptyApplications } from '../support/stored-applications.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const registered = await registrarOf(store);
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const AN_HOUR = 3_600_000;

beforeEach(async () => {
  await emptyApplications(database);
  await forgetDay();
});

/**
 * A day later no limit knows of what was sent. A sender that nobody has seen for 5 s may begin with fewer messages: on
 * a busy machine no test is over by then.
 */
async function forgetDay(): Promise<void> {
  await database.query('DELETE FROM recipients');
  await database.query(
    "UPDATE sender SET credit = 1000, alive_at = now() + interval '1 hour', failures = 0, broken_at = NULL, recent_phones = NULL",
  );
}

async function register(): Promise<number> {
  return (await registered(key, [applicant(REJECTED)]))[0] as number;
}

/** One turn; gives the applications of the messages that went out. */
async function deliver(answer: (message: OutgoingMessage) => SendResult | Promise<SendResult>) {
  const sent: number[] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message.applicationId);
    return answer(message);
  };
  const limits = { messagesPerSecond: null, pairMs: 0, recipientsPerDay: null };
  const context = deliveryContext(
    store,
    { send },
    { limits: { ...limits, messagesPerPhone: 3, rejectionsPerPhone: 1 } },
  );
  await (await deliverDue(context, new AbortController().signal)).concluded;
  return sent;
}

const channelIdOf = ({ callback }: OutgoingMessage) => `wamid.${callback}`;
const accepted = (message: OutgoingMessage) =>
  ({ kind: 'accepted', channelMessageId: channelIdOf(message) }) as const;
const forNow = { kind: 'retry', reason: '1', afterMs: AN_HOUR } as const;
const forGood = { kind: 'give_up', reason: '131026' } as const;

async function stateOf(id: number) {
  const { rows } = await database.query(
    "SELECT concat_ws(' ', status, reason) AS state FROM messages_of(ARRAY[$1::bigint])",
    [id],
  );
  return rows[0]?.state;
}

const remembered = async () =>
  (await database.query('SELECT message_id::integer AS id FROM waiting_rejections ORDER BY 1')).rows.map(
    ({ id }) => id,
  );

/** How a message that was sent comes to wait again. The upkeep has passed meanwhile. */
const AGAIN: Readonly<Record<string, (later: number) => Promise<unknown>>> = {
  'the channel refused it for now': () =>
    deliver(async () => {
      await forgetRejections(database);
      return forNow;
    }),
  'an event says that it failed for now': async (id) => {
    await deliver(accepted);
    await forgetRejections(database);
    const callback = formatCallback(toMessageId(`${id}`), 1);
    const status = {
      kind: 'status',
      channelMessageId: `wamid.${callback}`,
      callback,
      at: new Date(),
    } as const;
    await applyChannelEvents({ database, vault }, [{ ...status, status: 'failed', failure: forNow }]);
  },
  'an operator sends it again': async (id) => {
    await deliver(() => forGood);
    await forgetRejections(database);
    await retryMessages(database, toApplicationId(id));
    await setMessages(database, [id], { dueInMs: AN_HOUR });
  },
  'an operator sends all that failed again': async (id) => {
    await deliver(() => forGood);
    await forgetRejections(database);
    await changeSelection(database, 'retry', { status: 'failed', reason: null, partnerId: null });
    await setMessages(database, [id], { dueInMs: AN_HOUR });
  },
};

describe('a message gives way to a later one that was sent and waits again (D42)', () => {
  for (const [how, waitAgain] of Object.entries(AGAIN)) {
    it(how, async () => {
      const first = await register();
      await setMessages(database, [first], { reason: 'contact_window', dueInMs: AN_HOUR });
      const later = await register();
      await waitAgain(later);
      assert.match(await stateOf(later), /^queued/);
      await forgetRejections(database);
      await forgetDay();
      await makeDue(database, first);
      assert.deepEqual(await deliver(accepted), []);
      assert.equal(await stateOf(first), 'cancelled recipient_limit');
      await makeDue(database, later);
      assert.deepEqual(await deliver(accepted), [later]);
    });
  }

  it('also where it comes to wait again at the moment in which the upkeep forgets it', async () => {
    const id = await register();
    await deliver(() => forGood);
    const { retried } = await inTransaction(database, async (upkeep) => {
      await upkeep.query(`SELECT forget_rejections(${-(2n ** 63n)}, 0, 0)`);
      const retried = retryMessages(database, toApplicationId(id));
      await eventually('the operator to wait', async () => (await waitingSessions(database)).length > 0);
      return { retried };
    });
    await retried;
    assert.deepEqual(await remembered(), [id]);
  });
});

it('D42: what a partner sends to one phone again and again leaves no more rows than messages that wait or went out', async () => {
  const ids: number[] = [];
  for (let n = 0; n < 30; n += 1) ids.push(await register());
  await setMessages(database, [ids[0]], { reason: 'contact_window', dueInMs: AN_HOUR });
  assert.deepEqual(await deliver(accepted), [ids[29]]);
  assert.deepEqual(await remembered(), [ids[0], ids[29]]);
});
