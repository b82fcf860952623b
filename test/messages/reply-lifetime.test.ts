/** What becomes of stored replies: erasure, retention, other keys, clocks that step (docs/upkeep.md, docs/keys.md). */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { OutgoingReply } from '../../src/domain/message/reply.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { type Phone, toPhone } from '../../src/domain/phone/phone.ts';
import { inTransaction, type Transaction } from '../../src/ground/postgres/database.ts';
import { channelIndexOf, phoneIndexOf, storedAgain, toBigint } from '../../src/seal/blind-indexes.ts';
import { reindexedTable } from '../../src/seal/reindex.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { deliverReplies } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { eraseMessages, hasPhones, isBeingSent } from '../../src/subjects/messages/sql/erasure.ts';
import { RECORD_REINDEXING } from '../../src/subjects/messages/sql/reindex.ts';
import { mendReplies } from '../../src/subjects/messages/sql/replies/delivery.ts';
import { queueReplies, repliesOf, sealReply } from '../../src/subjects/messages/sql/replies.ts';
import { CHANNEL_USERS, REPLIES } from '../../src/subjects/messages/sql/tables.ts';
import { addErasure } from '../../src/subjects/rights/sql/erasures.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { type Addressee, queueReply, replyContext } from '../support/replies.ts';
import { runJob } from '../support/upkeep.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let serial = 3_220_000_000;
async function someone(phone: Phone = toPhone(`+57${++serial}`)): Promise<Addressee> {
  const [id] = await register(key, [applicant({ phone, ...IN_REVIEW })]);
  return { id: id as number, phone };
}

const count = async ({ id }: Addressee) => (await repliesOf(database, toApplicationId(id))).length;
const indexOf = ({ phone }: Addressee) => toBigint(phoneIndexOf(vault, phone));
const keyed = (name: string) => createHash('sha256').update(name).digest();
const never = new AbortController().signal;

async function deliver(withVault: Vault = vault): Promise<OutgoingReply[]> {
  const got: OutgoingReply[] = [];
  const channel = {
    markRead: async () => {},
    sendReply: async (reply: OutgoingReply) => {
      got.push(reply);
      return { kind: 'accepted', channelMessageId: `wamid.${reply.callback}` } as const;
    },
  };
  const context = replyContext({ ...store, vault: withVault }, channel);
  await (await deliverReplies(context, never)).concluded;
  return got;
}

beforeEach(async () => {
  await database.query('DELETE FROM replies');
  await database.query('UPDATE sender SET tokens = 1000, credit = 1000, alive_at = now(), failures = 0');
});

/** The part of an erasure that takes messages and replies out. */
async function erase(
  session: Transaction,
  person: Awaited<ReturnType<typeof someone>>,
  nobodySends: boolean,
): Promise<void> {
  const erasureId = randomUUID();
  const applications = [{ id: toApplicationId(person.id), sealId: randomUUID() }];
  const phones = [indexOf(person)];
  await addErasure(session, { id: erasureId, at: null, applications, phones });
  await eraseMessages(session, [toApplicationId(person.id)], phones, { nobodySends, erasureId });
}

describe('an erasure', () => {
  it('deletes the replies of the person and leaves those of others', async () => {
    const [person, other] = [await someone(), await someone()];
    for (const one of [person, other]) await queueReply(store, one, 1);
    assert.equal(await hasPhones(database, [indexOf(person)]), true);
    await inTransaction(database, (session) => erase(session, person, false));
    assert.deepEqual([await count(person), await count(other)], [0, 1]);
    assert.equal(await hasPhones(database, [indexOf(person)]), false);
  });

  it('is refused while a reply is being sent, unless no worker runs', async () => {
    const person = await someone();
    await queueReply(store, person, 1);
    await database.query("UPDATE replies SET status = 'sending', attempts = 1");
    const erasing = (nobodySends: boolean) =>
      inTransaction(database, (session) => erase(session, person, nobodySends));
    await assert.rejects(erasing(false), isBeingSent);
    await erasing(true);
    assert.equal(await count(person), 0);
  });
});

describe('retention', () => {
  it('replies go with their application, and stay while the application is there', async () => {
    const [gone, kept] = [await someone(), await someone()];
    for (const one of [gone, kept]) await queueReply(store, one, 1);
    await database.query('DELETE FROM batches WHERE id = batch_of($1)', [gone.id]);
    await runJob(database, 'forget replies');
    assert.deepEqual([await count(gone), await count(kept)], [0, 1]);
  });
});

describe('keys', () => {
  const sealed = sealedRows(REPLIES);
  const secrets = { ...TEST_SECRETS, dataKeys: new Map([[2, keyed('another')], ...TEST_SECRETS.dataKeys]) };

  it('a reseal seals every content with the new key, also where a step is repeated, and the old key is not needed', async () => {
    const persons = await Promise.all(Array.from({ length: 5 }, () => someone()));
    for (const person of persons) await queueReply(store, person, 1);
    const newer = new Vault(secrets);
    assert.deepEqual(await sealed.rowsOf(database, newer, 1), { needing: 5, damaged: 0 });
    for (let times = 0; times < 2; times += 1) {
      const step = await sealed.reseal(database, newer, '');
      assert.deepEqual([step.next, step.resealed, step.unopened], [null, times === 0 ? 5 : 0, 0]);
    }
    assert.deepEqual(await sealed.rowsOf(database, newer, 1), { needing: 0, damaged: 0 });
    const texts = (await deliver(newer)).map(({ text }) => text);
    assert.deepEqual(texts, Array(5).fill('turn 1'));
  });

  it('a content that does not open counts as damaged and stays', async () => {
    await queueReply(store, await someone(), 1);
    await database.query("UPDATE replies SET content = substring(content FROM 1 FOR 30) || '\\x00'");
    const newer = new Vault(secrets);
    assert.deepEqual(await sealed.rowsOf(database, newer, 1), { needing: 0, damaged: 1 });
    assert.deepEqual(await sealed.reseal(database, newer, ''), {
      ...{ next: null, resealed: 0, unopened: 1, applications: 0 },
    });
  });

  it('nothing is queued that is sealed with a retired key', async () => {
    const { id, phone } = await someone();
    const applicationId = toApplicationId(id);
    await database.query('SELECT refuse_data_key(1, true)');
    const reply = {
      ...{ applicationId, turn: 1, partnerId: toPartnerId(1), phoneIndex: phoneIndexOf(vault, phone) },
      content: sealReply(vault, { applicationId, turn: 1 }, { text: 'x', buttons: [], readMessageId: null }),
      windowUntil: new Date(Date.now() + 60_000),
    };
    await assert.rejects(
      inTransaction(database, (session) => queueReplies(session, [reply])),
      /data key that is retired/,
    );
    await database.query('SELECT refuse_data_key(1, false)');
    await inTransaction(database, (session) => queueReplies(session, [reply]));
  });

  it('a new index key makes the indexes again: the reply still goes out, and is found by its id', async () => {
    const person = await someone();
    await queueReply(store, person, 1);
    const newer = new Vault({ ...TEST_SECRETS, newerIndexKeys: [keyed('newer index')] });
    const [before] = await deliver();
    const again = storedAgain(newer, 0);
    for (const { step } of [RECORD_REINDEXING, ...[REPLIES, CHANNEL_USERS].map(reindexedTable)])
      await inTransaction(database, (session) =>
        step(
          session,
          { again, macs: { vault: newer, before: 0 }, opening: null, movePhones: async () => {} },
          '',
        ),
      );
    const [stored] = await repliesOf(database, toApplicationId(person.id));
    assert.equal(stored?.channelIndex, channelIndexOf(newer, `wamid.${before?.callback}`));
    const { rows } = await database.query('SELECT phone_index FROM replies');
    assert.deepEqual(rows, [{ phone_index: toBigint(phoneIndexOf(newer, person.phone)) }]);
  });
});

describe('a clock that was ahead', () => {
  it('D39: a reply that waits does not wait for the time of that clock', async () => {
    const person = await someone();
    await queueReply(store, person, 1);
    await database.query(
      "UPDATE replies SET changed_at = now() + interval '3 days', due_at = now() + interval '3 days 1 minute'",
    );
    await mendReplies(database);
    const { rows } = await database.query(
      "SELECT due_at BETWEEN now() + interval '50 seconds' AND now() + interval '70 seconds' AS soon FROM replies",
    );
    assert.deepEqual(rows, [{ soon: true }]);
  });
});
