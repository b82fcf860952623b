/** Replies: answers to what persons wrote, as a class of messages of their own (docs/messages.md, "Replies"). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ReplyChannel, SendFailure, SendResult } from '../../src/domain/message/channel.ts';
import type { ChannelStatus, StatusEvent } from '../../src/domain/message/channel-event.ts';
import type { OutgoingReply } from '../../src/domain/message/reply.ts';
import { type Phone, toPhone } from '../../src/domain/phone/phone.ts';
import { Bell } from '../../src/ground/base/bell.ts';
import type { Clock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { channelIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { deliverReplies, type ReplyContext } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { startSending } from '../../src/subjects/messages/delivery/sending.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { pauseSender, resumeSender } from '../../src/subjects/messages/sql/pauses.ts';
import { findLostReplies } from '../../src/subjects/messages/sql/replies/delivery.ts';
import { repliesOf, replyOfChannelMessage } from '../../src/subjects/messages/sql/replies.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { type Addressee, queueReply, replyContext, textContent } from '../support/replies.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const never = new AbortController().signal;

let serial = 3_210_000_000;
async function someone(phone: Phone = toPhone(`+57${++serial}`)): Promise<Addressee> {
  const [id] = await register(key, [applicant({ phone, ...IN_REVIEW })]);
  return { id: id as number, phone };
}

/** A channel that answers as `answer` says, and keeps what it got in order. */
function channelOf(answer: (reply: OutgoingReply) => SendResult | Promise<SendResult>) {
  const got: OutgoingReply[] = [];
  const acts: string[] = [];
  const channel: ReplyChannel = {
    async sendReply(reply) {
      got.push(reply);
      acts.push(`send ${reply.text}`);
      return answer(reply);
    },
    async markRead(id) {
      acts.push(`read ${id}`);
    },
  };
  return { channel, got, acts };
}

const idOf = ({ callback }: OutgoingReply) => `wamid.${callback}`;
const accepting = () => channelOf((reply) => ({ kind: 'accepted', channelMessageId: idOf(reply) }));
const answering = (result: SendResult) => channelOf(() => result);

async function deliver(channel: ReplyChannel, changes: Partial<ReplyContext> = {}): Promise<number> {
  const { claimed, concluded } = await deliverReplies(replyContext(store, channel, changes), never);
  await concluded;
  return claimed;
}

const statusesOf = async ({ id }: Addressee) =>
  (await repliesOf(database, toApplicationId(id))).map(({ status, reason }) =>
    reason === null ? status : `${status} ${reason}`,
  );
const makeDue = () => database.query("UPDATE replies SET due_at = now() WHERE status = 'queued'");

beforeEach(async () => {
  await database.query('DELETE FROM replies');
  await database.query('DELETE FROM suppressions');
  await database.query('DELETE FROM early_events');
  await resumeSender(database);
  await database.query(
    "UPDATE sender SET tokens = 1000, credit = 1000, alive_at = now() + interval '1 hour', failures = 0",
  );
});

describe('what goes out', () => {
  it('a reply goes out at once, with the phone of the envelope, and after the read mark', async () => {
    const person = await someone();
    const { channel, got, acts } = accepting();
    const buttons = [{ title: 'Sí', payload: 'c.1.data_consent.x.yes' }];
    await queueReply(store, person, 1, textContent('¿Seguimos?', { buttons, readMessageId: 'wamid.in.1' }));
    assert.equal(await deliver(channel), 1);
    assert.deepEqual(acts, ['read wamid.in.1', 'send ¿Seguimos?']);
    const [reply] = got;
    assert.equal(reply?.phone, person.phone);
    assert.deepEqual(reply?.buttons, buttons);
    assert.match(reply?.callback ?? '', /^r\d+\.1$/);
    const [stored] = await repliesOf(database, toApplicationId(person.id));
    assert.equal(stored?.status, 'accepted');
    assert.equal(stored?.channelIndex, channelIndexOf(vault, idOf(reply!)));
    assert.ok(stored?.sentAt instanceof Date);
  });

  it('a turn has one reply for ever, however often it is queued', async () => {
    const person = await someone();
    const { channel, got } = accepting();
    for (const text of ['first', 'second']) {
      await queueReply(store, person, 1, textContent(text));
      await deliver(channel);
    }
    assert.deepEqual(
      got.map(({ text }) => text),
      ['first'],
    );
  });

  it('a burst goes out in the order of its turns, without the gap between two messages to a phone', async () => {
    const person = await someone();
    const { channel, got } = accepting();
    for (const turn of [3, 1, 2]) await queueReply(store, person, turn);
    for (let turns = 0; turns < 3; turns += 1) await deliver(channel);
    assert.deepEqual(
      got.map(({ text }) => text),
      ['turn 1', 'turn 2', 'turn 3'],
    );
  });

  it('a later reply waits for an earlier one that waits, and for no other application', async () => {
    const [person, other] = [await someone(), await someone()];
    let isBusy = true;
    const { channel, got } = channelOf((reply) =>
      reply.applicationId === person.id && isBusy
        ? { kind: 'pause_recipient', reason: '131056', afterMs: 60_000 }
        : { kind: 'accepted', channelMessageId: idOf(reply) },
    );
    await queueReply(store, person, 1);
    await deliver(channel);
    await queueReply(store, person, 2);
    await queueReply(store, other, 1);
    await deliver(channel);
    assert.deepEqual(await statusesOf(person), ['queued 131056', 'queued']);
    assert.deepEqual(await statusesOf(other), ['accepted']);
    isBusy = false;
    await makeDue();
    await deliver(channel);
    await deliver(channel);
    assert.deepEqual(
      got.filter(({ applicationId }) => applicationId === person.id).map(({ text }) => text),
      ['turn 1', 'turn 1', 'turn 2'],
    );
  });

  it('a claim reads about what it claims, however many replies wait', async () => {
    const [waiting, claimed] = [3_000, 100];
    await database.query(
      `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at)
      SELECT n, 1, $1, n, '\\x01', now() + interval '1 day', now() FROM generate_series(1, $2::int) AS n`,
      [partner, waiting],
    );
    const reads = await inTransaction(database, async (session) => {
      const read = async () => {
        const { rows } = await session.query(
          "SELECT coalesce(idx_tup_fetch, 0) + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relname = 'replies'",
        );
        return Number(rows[0].read);
      };
      const before = await read();
      assert.equal((await session.query('SELECT FROM claim_replies($1, NULL)', [claimed])).rowCount, claimed);
      return (await read()) - before;
    });
    assert.ok(reads < 4 * claimed, `${reads} rows were read`);
  });

  it('several workers send each reply once', async () => {
    const persons = await Promise.all(Array.from({ length: 20 }, () => someone()));
    for (const person of persons) await queueReply(store, person, 1);
    const { channel, got } = accepting();
    const workers = Array.from({ length: 4 }, () => untilDone(async () => (await deliver(channel)) === 0));
    await Promise.all(workers);
    // A worker may have found nothing while others held all rows.
    await deliver(channel);
    assert.deepEqual(
      got.map(({ applicationId }) => Number(applicationId)).toSorted((a, b) => a - b),
      persons.map(({ id }) => id).toSorted((a, b) => a - b),
    );
  });
});

describe('what does not go out', () => {
  it('D43: nothing goes out after the window, whether the service knows of its end or the channel says so', async () => {
    const [late, early] = [await someone(), await someone()];
    await queueReply(store, late, 1, textContent('late'), new Date(Date.now() - 1_000));
    const unused = accepting();
    await deliver(unused.channel);
    assert.equal(unused.got.length, 0);
    await queueReply(store, early, 1);
    await deliver(answering({ kind: 'give_up', reason: '131047' }).channel);
    for (const person of [late, early])
      assert.deepEqual(await statusesOf(person), ['cancelled window_closed']);
  });

  it('a wait ends with the window', async () => {
    const person = await someone();
    await queueReply(store, person, 1, textContent('soon over'), new Date(Date.now() + 30_000));
    await deliver(answering({ kind: 'retry', reason: '131000', afterMs: 3_600_000 }).channel);
    const { rows } = await database.query('SELECT due_at <= window_until AS ends FROM replies');
    assert.deepEqual(rows, [{ ends: true }]);
  });

  it('D43: nothing goes out to a suppressed phone', async () => {
    const person = await someone();
    await database.query('SELECT add_suppression($1)', [toBigint(phoneIndexOf(vault, person.phone))]);
    await queueReply(store, person, 1);
    const { channel, got } = accepting();
    await deliver(channel);
    assert.equal(got.length, 0);
    assert.deepEqual(await statusesOf(person), ['cancelled suppressed']);
  });

  it('nothing goes out where the person was erased, or the phone is another one', async () => {
    const [gone, other] = [await someone(), await someone()];
    await queueReply(store, gone, 1);
    await database.query('UPDATE batches SET envelope = NULL WHERE id = batch_of($1)', [gone.id]);
    await queueReply(store, { ...other, phone: gone.phone }, 1);
    const faults: string[] = [];
    const { channel, got } = accepting();
    await deliver(channel, { onFault: (reason) => faults.push(reason) });
    assert.equal(got.length, 0);
    assert.deepEqual(await statusesOf(gone), ['cancelled erased']);
    assert.deepEqual(await statusesOf(other), ['failed mismatch']);
    assert.deepEqual(faults, ['mismatch']);
  });

  it('a content that does not open ends its reply alone; one of a missing data key waits', async () => {
    const [damaged, missing, sound] = [await someone(), await someone(), await someone()];
    for (const person of [damaged, missing, sound]) await queueReply(store, person, 1);
    await database.query(
      'UPDATE replies SET content = overlay(content placing $2 from 40) WHERE application_id = $1',
      [damaged.id, Buffer.from([0, 1, 2, 3])],
    );
    await database.query(
      'UPDATE replies SET content = overlay(content placing $2 from 1) WHERE application_id = $1',
      [missing.id, Buffer.from([77])],
    );
    const { channel } = accepting();
    await deliver(channel, { onFault: () => {} });
    assert.deepEqual(await statusesOf(damaged), ['failed unreadable']);
    assert.deepEqual(await statusesOf(missing), ['queued unknown_key']);
    assert.deepEqual(await statusesOf(sound), ['accepted']);
  });

  it('a row that makes the turn fail waits alone, also among many, and fails at the end of its window', async () => {
    const persons = await Promise.all(Array.from({ length: 9 }, () => someone()));
    const bad = persons[4]!;
    for (const person of persons) await queueReply(store, person, 1);
    await database.query('UPDATE replies SET content = $2 WHERE application_id = $1', [
      bad.id,
      vault.seal('null', `reply:${bad.id}:1`),
    ]);
    const faults: string[] = [];
    const { channel, got } = accepting();
    const onFault = (reason: string) => void faults.push(reason);
    for (let turns = 0; turns < 10; turns += 1) await deliver(channel, { onFault });
    assert.deepEqual(
      got.map(({ applicationId }) => Number(applicationId)).toSorted((a, b) => a - b),
      persons
        .map(({ id }) => id)
        .filter((id) => id !== bad.id)
        .toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      [await statusesOf(bad), new Set(faults)],
      [['queued unsendable'], new Set(['unsendable'])],
    );
    await database.query(
      'UPDATE replies SET due_at = now(), window_until = now() WHERE application_id = $1',
      [bad.id],
    );
    await deliver(channel, { onFault });
    assert.deepEqual(await statusesOf(bad), ['failed unsendable']);
  });

  it('a paused sender holds replies until its resume, and a code of the sender pauses all messages', async () => {
    const person = await someone();
    await pauseSender(database, '131042');
    await queueReply(store, person, 1);
    await deliver(accepting().channel);
    assert.deepEqual(await statusesOf(person), ['queued sender_paused']);
    await resumeSender(database);
    await makeDue();
    await deliver(answering({ kind: 'pause_sender', reason: '190' }).channel);
    assert.deepEqual(await statusesOf(person), ['queued 190']);
    assert.equal((await database.query('SELECT FROM sender WHERE paused_at IS NOT NULL')).rowCount, 1);
  });

  it('an answer about the opt-out of the person suppresses the phone', async () => {
    const person = await someone();
    await queueReply(store, person, 1);
    await deliver(answering({ kind: 'opted_out', reason: '131050' }).channel);
    await queueReply(store, person, 2);
    await deliver(accepting().channel);
    assert.deepEqual(await statusesOf(person), ['failed 131050', 'cancelled suppressed']);
  });
});

describe('the rate and the breaker', () => {
  it('replies and other messages share the rate: what replies take is missing for the others', async () => {
    const persons = await Promise.all(Array.from({ length: 8 }, () => someone()));
    for (const person of persons) await queueReply(store, person, 1);
    await database.query('UPDATE sender SET tokens = 4, refilled_at = now()');
    const { channel, got } = accepting();
    await deliver(channel, { messagesPerSecond: 4 });
    // Four tokens, and a quarter of a second's worth ahead; the clock may add one.
    assert.ok(got.length === 5 || got.length === 6, `${got.length}`);
    const { rows } = await database.query('SELECT tokens < 1 AS spent FROM sender');
    assert.deepEqual(rows, [{ spent: true }]);
  });

  it('five sends without an answer break the channel: replies wait but for a probe, and an answer mends it', async () => {
    const persons = await Promise.all(Array.from({ length: 7 }, () => someone()));
    const failing = answering({ kind: 'retry', reason: 'timeout' });
    for (const person of persons.slice(0, 5)) await queueReply(store, person, 1);
    await deliver(failing.channel);
    const { rows } = await database.query('SELECT broken_at IS NOT NULL AS broken FROM sender');
    assert.deepEqual(rows, [{ broken: true }]);
    for (const person of persons.slice(5)) await queueReply(store, person, 1);
    const { channel, got } = accepting();
    await deliver(channel);
    assert.equal(got.length, 0);
    await database.query('UPDATE sender SET probe_at = now()');
    await deliver(channel);
    assert.equal(got.length, 1);
    await makeDue();
    await deliver(channel);
    assert.ok(got.length > 1);
  });
});

describe('a send without a clear answer', () => {
  it('is never repeated by the service, and its status event settles it', async () => {
    const person = await someone();
    const { channel, got } = answering({ kind: 'uncertain', reason: 'timeout' });
    await queueReply(store, person, 1);
    await deliver(channel);
    assert.deepEqual(await statusesOf(person), ['uncertain timeout']);
    await makeDue();
    await deliver(channel);
    assert.equal(got.length, 1);
    await applyChannelEvents({ database, vault }, [statusOf(got[0]!, 'delivered')]);
    assert.deepEqual(await statusesOf(person), ['delivered']);
  });

  it('a worker that died while it sent leaves an uncertain reply, and the next one goes out', async () => {
    const person = await someone();
    await queueReply(store, person, 1);
    await deliverReplies(replyContext(store, channelOf(() => new Promise(() => {})).channel), never);
    await queueReply(store, person, 2);
    const { channel, got } = accepting();
    await deliver(channel);
    assert.equal(got.length, 0);
    await database.query("UPDATE replies SET due_at = now() WHERE status = 'sending'");
    await findLostReplies(database);
    await deliver(channel);
    assert.deepEqual(await statusesOf(person), ['uncertain no_record', 'accepted']);
  });
});

function statusOf(
  reply: OutgoingReply,
  status: ChannelStatus,
  {
    failure = null,
    withCallback = true,
    at = new Date(),
  }: Partial<StatusEvent> & { withCallback?: boolean } = {},
): StatusEvent {
  const callback = withCallback ? reply.callback : null;
  return { kind: 'status', channelMessageId: idOf(reply), callback, status, at, failure };
}

describe('status events', () => {
  it('any order and number of events ends alike, also before the record and without a callback', async () => {
    const journey = fc.record({
      told: fc.subarray(['sent', 'delivered', 'read'] as const, { minLength: 1 }),
      isEarly: fc.boolean(),
      withCallback: fc.boolean(),
      shuffle: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    });
    await fc.assert(
      fc.asyncProperty(journey, async ({ told, isEarly, withCallback, shuffle }) => {
        const person = await someone();
        const events = (reply: OutgoingReply) => {
          const all = [...told, ...told].map((status) => statusOf(reply, status, { withCallback }));
          return all
            .map((event) => [event, shuffle.next().value as number] as const)
            .sort(([, one], [, other]) => one - other)
            .map(([event]) => event);
        };
        const tell = async (reply: OutgoingReply) => {
          for (const event of events(reply)) await applyChannelEvents({ database, vault }, [event]);
        };
        const { channel, got } = channelOf(async (reply) => {
          if (isEarly) await tell(reply);
          return { kind: 'accepted', channelMessageId: idOf(reply) };
        });
        await queueReply(store, person, 1);
        await deliver(channel);
        if (!isEarly) await tell(got[0]!);
        assert.deepEqual(await statusesOf(person), [told.at(-1)]);
        const [stored] = await repliesOf(database, toApplicationId(person.id));
        assert.equal(stored?.deliveredAt !== null, told.includes('delivered'));
        assert.equal(stored?.readAt !== null, told.includes('read'));
      }),
      { numRuns: 25 },
    );
  });

  it('a failure that comes later has the consequence of its code', async () => {
    const cases: [failure: SendFailure, status: string][] = [
      [{ kind: 'retry', reason: '131000' }, 'queued 131000'],
      [{ kind: 'give_up', reason: '131026' }, 'failed 131026'],
      [{ kind: 'give_up', reason: '131047' }, 'cancelled window_closed'],
      [{ kind: 'pause_template', reason: '132015' }, 'failed 132015'],
      [{ kind: 'pause_sender', reason: '131042' }, 'queued 131042'],
      [{ kind: 'opted_out', reason: '131050' }, 'failed 131050'],
    ];
    for (const [failure, expected] of cases) {
      const person = await someone();
      const { channel, got } = accepting();
      await queueReply(store, person, 1);
      await deliver(channel);
      const own = got.find(({ applicationId }) => applicationId === person.id);
      const event = statusOf(own!, 'failed', { failure });
      await applyChannelEvents({ database, vault }, [event, event]);
      assert.deepEqual(await statusesOf(person), [expected]);
      const { rowCount } = await database.query('SELECT FROM sender WHERE paused_at IS NOT NULL');
      assert.equal(rowCount, failure.kind === 'pause_sender' ? 1 : 0, expected);
      await resumeSender(database);
      assert.equal((await database.query('SELECT FROM paused_templates')).rowCount, 0);
      const suppressed = await database.query('SELECT FROM suppressions WHERE active');
      assert.equal(suppressed.rowCount, failure.kind === 'opted_out' ? 1 : 0);
    }
  });

  it('an event with the callback of a reply that is gone changes nothing and is not kept', async () => {
    const event: StatusEvent = {
      ...{ kind: 'status', channelMessageId: 'wamid.gone', callback: 'r999999.1', status: 'read' },
      ...{ at: new Date(), failure: null },
    };
    const counts = await applyChannelEvents({ database, vault }, [event]);
    assert.equal(counts.moved, 0);
    assert.equal((await database.query('SELECT FROM early_events')).rowCount, 0);
  });
});

describe('what others read', () => {
  it('the reply that a person answers is found by the id of the channel, and tells the phone', async () => {
    const person = await someone();
    const { channel, got } = accepting();
    await queueReply(store, person, 7);
    await deliver(channel);
    const index = channelIndexOf(vault, idOf(got[0]!));
    const found = await replyOfChannelMessage(database, [index, channelIndexOf(vault, 'wamid.other')]);
    assert.equal(found.size, 1);
    assert.equal(found.get(index)?.turn, 7);
    assert.equal(Number(found.get(index)?.applicationId), person.id);
    const heard: unknown[] = [];
    const hear = async (some: readonly { phoneIndex: unknown }[]) =>
      void heard.push(...some.map(({ phoneIndex }) => phoneIndex));
    await applyChannelEvents({ database, vault, hear }, [
      {
        kind: 'text',
        from: null,
        userId: null,
        body: 'hola',
        contextMessageId: idOf(got[0]!),
        at: new Date(),
      },
    ]);
    assert.deepEqual(heard, [phoneIndexOf(vault, person.phone)]);
  });

  it('a ring of the bell ends the rest of an idle worker', async () => {
    const { channel, got } = accepting();
    const context = replyContext(store, channel);
    // Its rests have no end but the ring.
    const bell = new Bell();
    const wait = bell.wait.bind(bell);
    const rests = mock.method(bell, 'wait', (clock: Clock, _ms: number, signal: AbortSignal) =>
      wait(clock, 2 * PATIENCE_MS, signal),
    );
    const worker = startSending({
      clock: store.clock,
      turn: (cut, stopping) => deliverReplies(context, cut, stopping),
      onError: (error) => assert.fail(`${error}`),
      bell,
    });
    try {
      const person = await someone();
      await eventually('a rest', () => rests.mock.callCount() > 0);
      await queueReply(store, person, 1);
      bell.ring();
      await eventually('the reply', () => got.length === 1);
    } finally {
      await worker.stop();
      await worker.ended;
    }
  });
});
