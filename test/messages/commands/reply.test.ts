/** `ventanilla reply`: an operator sees replies of unknown fate and settles them (docs/messages.md, "Replies"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SendResult } from '../../../src/domain/message/channel.ts';
import type { OutgoingReply } from '../../../src/domain/message/reply.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { deliverReplies } from '../../../src/subjects/messages/delivery/reply-turn.ts';
import { applyChannelEvents } from '../../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../../cli/harness.ts';
import { applicant, IN_REVIEW } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';
import { queueReply, replyContext } from '../../support/replies.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let serial = 3_240_000_000;
async function someone() {
  const phone = toPhone(`+57${++serial}`);
  const [id] = await register(key, [applicant({ phone, ...IN_REVIEW })]);
  return { id: id as number, phone };
}

/** Sends everything that is due, with this answer. Returns what went out. */
async function deliver(answer: SendResult): Promise<OutgoingReply[]> {
  const sent: OutgoingReply[] = [];
  const channel = {
    markRead: async () => {},
    sendReply: async (reply: OutgoingReply) => {
      sent.push(reply);
      return answer;
    },
  };
  const turn = await deliverReplies(replyContext(store, channel), new AbortController().signal);
  await turn.concluded;
  return sent;
}
const LOST: SendResult = { kind: 'uncertain', reason: 'timeout' };
const TAKEN: SendResult = { kind: 'accepted', channelMessageId: 'wamid.reply' };
const statuses = async (id: number) =>
  (await database.query('SELECT status FROM replies WHERE application_id = $1 ORDER BY turn', [id])).rows.map(
    ({ status }) => status,
  );

describe('an uncertain reply (D43)', () => {
  it('is listed with its reason, sent once more with the next attempt, and the act is recorded', async () => {
    const ana = await someone();
    await queueReply(store, ana, 1);
    await deliver(LOST);
    const [row] = await json('reply', 'list');
    assert.deepEqual(
      [row.application_id, row.turn, row.status, row.reason, row.attempts],
      [ana.id, 1, 'uncertain', 'timeout', 1],
    );
    assert.equal((await json('reply', 'retry', `${ana.id}`)).status, 'queued');
    const [again] = await deliver(TAKEN);
    assert.deepEqual([again?.attempt, await statuses(ana.id)], [2, ['accepted']]);
    assert.deepEqual(await json('reply', 'list'), []);
    const [act] = await json('audit', 'list', '--application', `${ana.id}`);
    assert.equal(act.act, 'reply retry');
  });

  it('of two, the newest is sent again, and takes the place of the other', async () => {
    const ana = await someone();
    for (const turn of [1, 2]) {
      await queueReply(store, ana, turn);
      await deliver(LOST);
    }
    await json('reply', 'retry', `${ana.id}`);
    assert.deepEqual(await statuses(ana.id), ['cancelled', 'queued']);
    assert.equal((await deliver(TAKEN)).length, 1);
  });

  it('is not sent again where the channel says meanwhile that it was delivered', async () => {
    const ana = await someone();
    await queueReply(store, ana, 1);
    const [first] = await deliver(LOST);
    await json('reply', 'retry', `${ana.id}`);
    await applyChannelEvents({ database, vault }, [
      {
        ...{ kind: 'status', channelMessageId: 'wamid.first', callback: first?.callback ?? null },
        ...{ status: 'delivered', at: new Date(), failure: null },
      },
    ]);
    assert.deepEqual([await deliver(TAKEN), await statuses(ana.id)], [[], ['delivered']]);
  });

  it('is cancelled by an operator, and never goes out again', async () => {
    const ana = await someone();
    await queueReply(store, ana, 1);
    await deliver(LOST);
    assert.equal((await json('reply', 'cancel', `${ana.id}`)).cancelled, 1);
    assert.deepEqual([await deliver(TAKEN), await statuses(ana.id)], [[], ['cancelled']]);
    assert.match((await run('reply', 'cancel', `${ana.id}`)).err, /has no uncertain reply/);
  });

  it('what cannot be sent again is refused, with the reason', async () => {
    const ana = await someone();
    assert.match((await run('reply', 'retry', `${ana.id}`)).err, /has no reply/);
    await queueReply(store, ana, 1);
    await deliver(TAKEN);
    assert.match((await run('reply', 'retry', `${ana.id}`)).err, /it is accepted, not uncertain/);
    await queueReply(store, ana, 2);
    await deliver(LOST);
    await database.query("UPDATE replies SET window_until = now() - interval '1 second'");
    assert.match((await run('reply', 'retry', `${ana.id}`)).err, /the channel takes it no more/);
    assert.deepEqual(await json('reply', 'list'), []);
  });
});
