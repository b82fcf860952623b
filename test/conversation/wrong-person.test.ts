/** A phone that changed hands: nothing of the application goes there any more, in the chat or outside of it (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageIdsOf, toApplicationId } from '../../src/domain/application/ids.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import type { OutgoingReply } from '../../src/domain/message/reply.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { deliverReplies } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { queueReminders } from '../../src/subjects/messages/sql/changes/turn-changes.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { setMessages } from '../support/messages.ts';
import { outboxOf } from '../support/outbox.ts';
import { replyContext } from '../support/replies.ts';

const store = await testDatabase();
const { database } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const codes: number[] = [];
const performer = goodPerformer({
  sendCode: async ({ applicationId }) => {
    codes.push(applicationId);
    return { result: 'sent', way: 'SMS', minutes: 10 };
  },
});
const { settle, sweep, hear, perform, skipPause, context, applicantAt } = await conversationsOf(store, key, {
  performer,
});
type Person = Awaited<ReturnType<typeof applicantAt>>;

const { sendAll, sentTo, outbox } = outboxOf(store);
const review = (act: 'approve' | 'reject', { id }: Person) =>
  json('application', act, `${id}`, '--reason', 'x');

/** Somebody in the middle of a conversation who is not the applicant. */
async function strangerAt(words = 'Número equivocado', changes: object = {}): Promise<Person> {
  const ana = await applicantAt(changes);
  await ana.tap();
  await ana.write(words);
  assert.deepEqual([await ana.place(), (await ana.replies()).length], ['data_consent operator', 2]);
  return ana;
}

describe('D43: messages outside the chat to a phone that changed hands', () => {
  for (const act of ['approve', 'reject'] as const) {
    it(`a review that says ${act} sends none, and the chat says nothing`, async () => {
      const ana = await strangerAt();
      await review(act, ana);
      await sweep();
      await settle();
      await sendAll();
      assert.deepEqual(sentTo(ana), []);
      assert.deepEqual(await outbox(ana), ['offer delivered']);
      assert.equal((await ana.replies()).length, 2);
    });
  }

  it('what waits to go out is cancelled at once, with a reason that operators see', async () => {
    const ana = await applicantAt();
    await ana.tap();
    // A second message and a reminder wait, as at night.
    await database.query('SELECT queue_fitting_messages(ARRAY[$1::bigint], ARRAY[$2::application_status])', [
      ana.id,
      'pending_signature',
    ]);
    await inTransaction(database, (session) => queueReminders(session, [toApplicationId(ana.id)]));
    await ana.write('wrong number');
    const all = ['offer delivered', 'approved cancelled (wrong_person)', 'reminder cancelled (wrong_person)'];
    assert.deepEqual(await outbox(ana), all);
    assert.match((await run('message', 'show', `${ana.id}`)).out, /wrong_person/);
    const counts = await database.query<{ waiting: string }>(
      'SELECT count(*) AS waiting FROM waiting_messages WHERE message_id = ANY ($1::bigint[])',
      [messageIdsOf(toApplicationId(ana.id))],
    );
    assert.equal(Number(counts.rows[0]?.waiting), 0);
  });

  it('no reminder is queued later, and what is queued all the same is cancelled at the moment of sending', async () => {
    const ana = await strangerAt();
    assert.deepEqual(
      await inTransaction(database, (session) => queueReminders(session, [toApplicationId(ana.id)])),
      [],
    );
    await setMessages(database, [ana.id], { status: 'queued', dueInMs: -1_000 });
    await sendAll();
    assert.deepEqual([sentTo(ana), await outbox(ana)], [[], ['offer cancelled (wrong_person)']]);
  });

  it('a message of the registration that did not go out yet is cancelled in the outbox', async () => {
    const ana = await applicantAt({}, false);
    await json('conversation', 'start', `${ana.id}`);
    await ana.write('hola');
    await ana.write('no soy yo');
    assert.deepEqual(await outbox(ana), ['offer cancelled (wrong_person)']);
    await sendAll();
    assert.deepEqual(sentTo(ana), []);
  });

  it('a reply that waits is cancelled, and what the same turn said before is not said', async () => {
    const ana = await applicantAt();
    await hear(await ana.tapEvent(), await ana.textEvent('hola'));
    await hear(await ana.textEvent('Número equivocado'));
    await settle();
    const replies = await ana.replies();
    assert.equal(replies.length, 1);
    assert.match(replies[0]!.text, /^Gracias por avisarnos/);
    assert.deepEqual(replies[0]!.buttons, []);
  });

  it('a reply on its way that the channel does not take is not sent again', async () => {
    const ana = await applicantAt();
    await hear(await ana.tapEvent());
    await takeTurns(context);
    const result = { kind: 'retry', reason: '1', afterMs: 1 } as const;
    const channel = {
      markRead: async () => {},
      sendReply: async ({ applicationId }: OutgoingReply) => {
        if (Number(applicationId) !== ana.id) return result;
        await hear(await ana.textEvent('Número equivocado'));
        await takeTurns(context);
        return result;
      },
    };
    await (await deliverReplies(replyContext(store, channel), new AbortController().signal)).concluded;
    const { rows } = await database.query(
      'SELECT status, reason FROM replies WHERE application_id = $1 ORDER BY turn',
      [ana.id],
    );
    assert.deepEqual(rows, [
      { status: 'cancelled', reason: 'wrong_person' },
      { status: 'queued', reason: null },
    ]);
  });

  for (const known of ['accepted', 'sent'] as const) {
    it(`a reply that the channel had ${known} before the words, and that fails later, is not sent again`, async () => {
      const ana = await applicantAt();
      await hear(await ana.tapEvent());
      await takeTurns(context);
      const ids = new Map<string, string>();
      const channel = {
        markRead: async () => {},
        sendReply: async ({ replyId, callback }: OutgoingReply) => {
          ids.set(callback, `wamid.reply.${replyId}`);
          return { kind: 'accepted', channelMessageId: `wamid.reply.${replyId}` } as const;
        },
      };
      const send = async () =>
        (await deliverReplies(replyContext(store, channel), new AbortController().signal)).concluded;
      const failure = { kind: 'retry', reason: '131000', afterMs: 1 } as const;
      const event = (status: 'sent' | 'failed', callback: string): ChannelEvent => ({
        ...{ kind: 'status', status, callback, channelMessageId: ids.get(callback)! },
        ...{ recipientUserId: null, at: new Date(), failure: status === 'failed' ? failure : null },
      });
      await send();
      const [question] = [...ids.keys()];
      if (known === 'sent') await hear(event('sent', question!));
      await hear(await ana.textEvent('Número equivocado'));
      await takeTurns(context);
      await send();
      for (const callback of ids.keys()) await hear(event('failed', callback));
      const { rows } = await database.query(
        'SELECT status, reason FROM replies WHERE application_id = $1 ORDER BY turn',
        [ana.id],
      );
      // The apology may come late.
      assert.deepEqual(rows, [
        { status: 'cancelled', reason: 'wrong_person' },
        { status: 'queued', reason: '131000' },
      ]);
    });
  }

  for (const together of [true, false]) {
    it(`a file that was not read for them is not waited for after a give-back, ${together ? 'of the same delivery' : 'before'}`, async () => {
      const ana = await applicantAt(APPROVED);
      await ana.tap();
      await ana.choose(0);
      await hear(await ana.fileEvent());
      await skipPause();
      if (!together) await takeTurns(context);
      await hear(await ana.textEvent('Número equivocado'));
      await skipPause();
      await settle();
      await json('conversation', 'give-back', `${ana.id}`);
      await settle();
      await ana.sendFile();
      await ana.write('ya envié todo');
      assert.equal(await ana.place(), 'debts service');
    });
  }

  it('a code and other work that wait are not done', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    for (let taps = 0; taps < 4; taps += 1) await ana.choose(0);
    codes.length = 0;
    await hear(await ana.textEvent('1234'));
    await takeTurns(context);
    await hear(await ana.textEvent('número equivocado'));
    await takeTurns(context);
    await perform('others');
    assert.deepEqual(codes, []);
  });
});

describe('D43: the chat of a phone that changed hands', () => {
  it('after the apology nothing is answered: words, files, a close and any word after it', async () => {
    const ana = await strangerAt();
    await ana.write('hola?');
    await ana.write('asesor');
    await ana.sendFile();
    await json('conversation', 'close', `${ana.id}`);
    await settle();
    await ana.write('quién es?');
    await ana.write('asesor');
    await ana.tap();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['closed service', 2]);
    assert.match((await run('conversation', 'show', `${ana.id}`)).out, /wrong_person/);
    assert.equal((await json('conversation', 'show', `${ana.id}`)).wrong_person, true);
  });

  it('words of an operator are refused until the conversation is given back', async () => {
    const ana = await strangerAt();
    assert.match((await run('conversation', 'say', `${ana.id}`, 'x')).err, /number is wrong/);
    await json('conversation', 'give-back', `${ana.id}`);
    assert.match((await ana.replies()).at(-1)?.text ?? '', /Seguimos/);
  });

  it('it also counts while an operator speaks, and after the end', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    for (const one of [ana, eva]) await one.tap();
    await ana.write('asesor');
    await ana.write('número equivocado');
    await eva.write('no');
    await eva.write('número equivocado');
    for (const one of [ana, eva]) {
      await review('approve', one);
      await sendAll();
      assert.deepEqual(sentTo(one), []);
      assert.match((await run('conversation', 'show', `${one.id}`)).out, /operator: wrong_person/);
    }
  });

  it('words that also want no more messages end the conversation, and are remembered past an end of the opt-out', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('Número equivocado');
    await ana.write('BAJA');
    assert.equal(await ana.place(), 'closed service');
    await run('suppression', 'remove', ana.phone);
    await review('approve', ana);
    await sendAll();
    assert.deepEqual(sentTo(ana), []);
  });
});

describe('D43: the number is right after all', () => {
  it('a give-back lets messages go out again', async () => {
    const ana = await strangerAt();
    await json('conversation', 'give-back', `${ana.id}`);
    await json('conversation', 'hand-over', `${ana.id}`);
    await review('reject', ana);
    await sendAll();
    assert.deepEqual(
      sentTo(ana).map(({ type }) => type),
      ['rejected'],
    );
  });

  it('so does a start after a close', async () => {
    const ana = await strangerAt();
    await json('conversation', 'close', `${ana.id}`);
    await json('conversation', 'start', `${ana.id}`);
    await review('reject', ana);
    await sendAll();
    assert.deepEqual(
      sentTo(ana).map(({ type }) => type),
      ['rejected'],
    );
  });
});
