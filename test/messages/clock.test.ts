/** Only the database's clock decides in delivery, and the clock may step either way (D39). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import type { SenderLimits } from '../../src/subjects/messages/sql/begin.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { findLost, forgetRecipients, mendLeap } from '../../src/subjects/messages/sql/upkeep.ts';
import { REJECTED } from '../support/applicant.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { answeredBefore, makeDue, passTime, setAll, setMessages } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { shifted } from '../support/shifted.ts';

const service = await testService({}, { upkeep: false });
const { database } = service;
const { apiKey } = await service.addPartner();

async function register(count: number): Promise<number[]> {
  const applications = Array.from({ length: count }, () => anApplication());
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  return (body as { results: { id: number }[] }).results.map(({ id }) => id);
}

/** Runs one turn; gives the applications whose messages went out. */
async function deliver(limits: Partial<SenderLimits> = {}): Promise<number[]> {
  const sent: number[] = [];
  const channel: TemplateChannel = {
    send: async ({ applicationId, callback }) => {
      sent.push(applicationId);
      return { kind: 'accepted', channelMessageId: `wamid.${callback}` };
    },
  };
  const context = deliveryContext(service, channel, {
    limits: {
      messagesPerSecond: null,
      pairMs: 0,
      recipientsPerDay: null,
      messagesPerPhone: null,
      rejectionsPerPhone: null,
      ...limits,
    },
  });
  const { concluded } = await deliverDue(context, new AbortController().signal);
  await concluded;
  return sent.toSorted((a, b) => a - b);
}

const ahead = (column: string) => shifted(column, "interval '25 hours'");

/** The rows as they are when the clock, which was a day ahead, is right again. */
const writtenAhead = () =>
  database.query(`
    WITH m AS (UPDATE message_records SET due_at = ${ahead('due_at')}, changed_at = ${ahead('changed_at')}),
      l AS (UPDATE leases SET lost_at = ${ahead('lost_at')}, begun_at = ${ahead('begun_at')}),
      r AS (UPDATE recipients SET sent_at = ${ahead('sent_at')}, answered_at = ${ahead('answered_at')})
    UPDATE sender SET refilled_at = now() + interval '25 hours', latest_at = now() + interval '25 hours'`);

async function dueIn(id: number): Promise<{ status: string; seconds: number }> {
  const { rows } = await database.query(
    'SELECT status, extract(epoch FROM due_at - now())::float8 AS seconds FROM messages WHERE application_id = $1',
    [id],
  );
  return rows[0];
}

beforeEach(async () => {
  await setAll(database, ['queued', 'sending', 'uncertain'], { status: 'cancelled' });
  await database.query('DELETE FROM recipients');
  await database.query('UPDATE sender SET tokens = 0, refilled_at = now(), latest_at = now()');
});

describe('after the clock has stepped back by a day', () => {
  it('the sender goes on at once, with the credit of one second', async () => {
    await writtenAhead();
    const ids = await register(30);
    const sent = await deliver({ messagesPerSecond: 10 });
    assert.deepEqual(sent, ids.slice(0, 10));
    assert.ok((await deliver({ messagesPerSecond: 0.001 })).length === 0, 'no tokens out of nothing');
  });

  it('a phone that got a message waits the pair gap once more, not a day', async () => {
    const { phone } = anApplication();
    const send = async (changes: Record<string, unknown>) => {
      const { body } = await post(`${service.url}/PRO`, apiKey, {
        applications: [anApplication({ phone, ...changes })],
      });
      return (body as { results: { id: number }[] }).results[0]?.id as number;
    };
    const first = await send(REJECTED);
    assert.deepEqual(await deliver(), [first]);
    await writtenAhead();
    const second = await send({});
    assert.deepEqual(await deliver({ pairMs: 2_000 }), []);
    assert.ok((await dueIn(second)).seconds <= 2);
    assert.equal(await mendLeap(database), true);
    await answeredBefore(database, 3_000);
    await makeDue(database, second);
    assert.deepEqual(await deliver({ pairMs: 2_000 }), [second]);
  });

  it('a waiting message begins its wait again, a contact window is checked again, a lost send is found', async () => {
    const [retry, window, lost, fresh] = (await register(4)) as [number, number, number, number];
    await setMessages(database, [retry], { reason: '131049', dueInMs: 24 * 3_600_000 });
    await setMessages(database, [window], { reason: 'contact_window', dueInMs: 14 * 3_600_000 });
    await setMessages(database, [lost], { status: 'sending', attempts: 1, dueInMs: 60_000 });
    await writtenAhead();
    assert.deepEqual(await deliver(), [fresh], 'an untouched message waits for no time');
    assert.equal(await mendLeap(database), true);
    assert.equal(await mendLeap(database), false);
    const [ofRetry, ofWindow] = await Promise.all([retry, window].map(dueIn));
    assert.ok(Math.abs((ofRetry?.seconds ?? 0) - 24 * 3_600) < 30, `${ofRetry?.seconds}`);
    assert.ok((ofWindow?.seconds ?? 1) <= 0);
    assert.equal(await findLost(database, 0), 0);
    await passTime(database, [lost], 61_000);
    assert.equal(await findLost(database, 0), 1);
    assert.deepEqual(await deliver(), [window]);
  });

  it('an uncertain message may be settled an hour later, not a day', async () => {
    const [id] = (await register(1)) as [number];
    await setMessages(database, [id], { status: 'uncertain', reason: 'timeout', dueInMs: 3_600_000 });
    await writtenAhead();
    await mendLeap(database);
    const { status, seconds } = await dueIn(id);
    assert.equal(status, 'uncertain');
    assert.ok(Math.abs(seconds - 3_600) < 60, `${seconds}`);
    assert.deepEqual(await retryMessages(database, toApplicationId(id)), []);
    await passTime(database, [id], 61 * 60_000);
    assert.equal((await retryMessages(database, toApplicationId(id)))[0]?.status, 'queued');
  });

  it('any number of messages and recipients is corrected, a bounded number in one statement', async () => {
    await database.query(`
      SELECT make_records('queued', 1::smallint, now(), array_agg(1000000 + n::bigint),
        array_agg('offer'::message_type), array_agg(1),
        array_agg((CASE WHEN n <= 4000 THEN 'queued' ELSE 'uncertain' END)::message_status), array_agg(now()),
        array_agg(NULL::text))
      FROM generate_series(1, 11000) AS n`);
    await database.query(`
      INSERT INTO recipients (phone_index, sent_at, sent_ms, message_id, partner_id, is_rejected)
      SELECT n, now(), 0, 1000000 + n, 1, false FROM generate_series(1, 6000) AS n`);
    await writtenAhead();
    const ahead = async () =>
      (
        await database.query(`
          SELECT (SELECT count(*) FROM messages WHERE status IN ('queued', 'uncertain') AND changed_at > now())::integer AS messages,
            (SELECT count(*) FROM recipients WHERE sent_at > now())::integer AS recipients`)
      ).rows[0];
    await database.query('SELECT mend_leap(0)');
    assert.deepEqual(await ahead(), { messages: 6_000, recipients: 1_000 });
    assert.equal(await mendLeap(database), true);
    assert.deepEqual(await ahead(), { messages: 0, recipients: 0 });
  });

  it('the limit of recipients in 24 hours still holds', async () => {
    await register(3);
    assert.equal((await deliver({ recipientsPerDay: 3 })).length, 3);
    await writtenAhead();
    await mendLeap(database);
    await register(2);
    assert.deepEqual(await deliver({ recipientsPerDay: 3 }), []);
  });
});

it('no leap of the clock forgets a recipient: only a day of elapsed time does, which may have 25 hours', async () => {
  await register(2);
  await deliver();
  const known = async () => (await database.query('SELECT FROM recipients')).rowCount;
  await database.query(`UPDATE recipients SET sent_at = ${shifted('sent_at', "interval '-25 hours'")}`);
  await forgetRecipients(database);
  assert.equal(await known(), 2);
  await database.query('UPDATE recipients SET sent_ms = sent_ms - 25 * 3600000');
  await forgetRecipients(database);
  assert.equal(await known(), 0);
});
