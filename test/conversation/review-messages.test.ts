/** The message after a review (D40) beside a conversation (D43): the applicant hears of an approval once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageIdsOf, toApplicationId } from '../../src/domain/application/ids.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { channelIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { commandLine } from '../cli/harness.ts';
import { beforeStatement } from '../support/before-statement.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { outboxOf } from '../support/outbox.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { settle, sweep, hear, context, applicantAt, inReview } = await conversationsOf(store, key);
const { sendAll, sentTo, outbox } = outboxOf(store);
const HOUR_MS = 3_600_000;
type Person = Awaited<ReturnType<typeof applicantAt>>;

const approve = ({ id }: Person) => json('application', 'approve', `${id}`, '--reason', 'x');
/** What follows a review: the conversation hears of it, and the outbox is sent. */
async function hearOfIt(): Promise<void> {
  await sweep();
  await settle();
  await sendAll();
}
const closeWindow = async ({ id }: Person) =>
  database.query('UPDATE conversations SET heard_at = $2 WHERE application_id = $1', [
    id,
    new Date((await databaseTime(database)).getTime() - 30 * HOUR_MS),
  ]);
const typesTo = (one: Person) => sentTo(one).map(({ type }) => type);
const said = async (one: Person) => (await one.replies()).map(({ text }) => text);
const approvals = async (one: Person) => (await said(one)).filter((text) => /fue aprobada/.test(text)).length;

/** The tap on the message after the review, as the channel tells it. */
async function tapOnApproval(ana: Person, message = messageIdsOf(toApplicationId(ana.id))[1]): Promise<void> {
  await hear({ ...(await ana.tapEvent()), contextMessageId: `wamid.out.${message}` } as never);
  await settle();
}

describe('D40, D43: an approval beside an open conversation', () => {
  it('is said in the chat where its window is open, and the offer follows; no message goes out', async () => {
    const ana = await inReview();
    await approve(ana);
    await hearOfIt();
    assert.equal(await ana.place(), 'summary service');
    assert.deepEqual([await approvals(ana), typesTo(ana)], [1, []]);
    assert.match((await said(ana)).at(-1) ?? '', /Esta es tu oferta/);
    assert.deepEqual(await outbox(ana), ['offer delivered']);
  });

  it('is said with the open question where something is still asked', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await approve(ana);
    await hearOfIt();
    assert.match((await said(ana)).at(-1) ?? '', /fue aprobada[\s\S]*comprobantes/);
    assert.deepEqual([await ana.place(), typesTo(ana)], ['earnings service', []]);
  });

  it('goes out as a message where the window is closed, and the chat adds nothing, not even a reminder', async () => {
    const ana = await inReview();
    const before = (await said(ana)).length;
    await closeWindow(ana);
    await approve(ana);
    await hearOfIt();
    await database.query('UPDATE conversations SET due_at = now() WHERE application_id = $1 AND timer = $2', [
      ana.id,
      'template',
    ]);
    await hearOfIt();
    assert.deepEqual([typesTo(ana), (await said(ana)).length], [['approved'], before]);
  });

  it('the tap on that message goes on with the open conversation, which does not say it again', async () => {
    const ana = await inReview();
    const { id } = await ana.row();
    await closeWindow(ana);
    await approve(ana);
    await hearOfIt();
    await tapOnApproval(ana);
    assert.deepEqual([(await ana.row()).id, await ana.place()], [id, 'summary service']);
    assert.match((await said(ana)).at(-1) ?? '', /Esta es tu oferta/);
    assert.equal(await approvals(ana), 0);
  });

  it('a message that waits is not sent where the person writes before it goes out: the chat says it', async () => {
    const ana = await inReview();
    await closeWindow(ana);
    await approve(ana);
    await sweep();
    await settle();
    assert.deepEqual(await outbox(ana), ['offer delivered', 'approved queued']);
    await ana.write('hola');
    await hearOfIt();
    assert.deepEqual(await outbox(ana), ['offer delivered', 'approved cancelled (replaced)']);
    assert.deepEqual([await approvals(ana), typesTo(ana)], [1, []]);
    assert.match((await said(ana)).at(-1) ?? '', /Esta es tu oferta/);
  });

  it('goes out as a message while an operator speaks', async () => {
    const ana = await inReview();
    const before = (await said(ana)).length;
    await json('conversation', 'hand-over', `${ana.id}`);
    await approve(ana);
    await hearOfIt();
    assert.deepEqual([typesTo(ana), (await said(ana)).length], [['approved'], before]);
  });

  it('is said at the give-back where an operator gets the conversation before it hears of the review', async () => {
    const ana = await inReview();
    await approve(ana);
    await json('conversation', 'hand-over', `${ana.id}`);
    await hearOfIt();
    assert.deepEqual([typesTo(ana), await approvals(ana)], [[], 0]);
    await json('conversation', 'give-back', `${ana.id}`);
    await hearOfIt();
    assert.deepEqual([typesTo(ana), await approvals(ana), await ana.place()], [[], 1, 'summary service']);
  });

  it('is said at the give-back in the place of a message that waits, and not after one that left', async () => {
    const people = [await inReview(), await inReview()] as const;
    for (const one of people) {
      await json('conversation', 'hand-over', `${one.id}`);
      await approve(one);
      await sweep();
      await settle();
    }
    const [ana, eva] = people;
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    await sendAll();
    await json('conversation', 'give-back', `${eva.id}`);
    await settle();
    await tapOnApproval(eva);
    await eva.write('hola');
    assert.deepEqual(await outbox(ana), ['offer delivered', 'approved cancelled (replaced)']);
    assert.deepEqual([typesTo(ana), await approvals(ana)], [[], 1]);
    assert.deepEqual([typesTo(eva), await approvals(eva)], [['approved'], 0]);
  });

  it('is not said again to who writes words after the message has gone out', async () => {
    const ana = await inReview();
    await closeWindow(ana);
    await approve(ana);
    await hearOfIt();
    await ana.write('hola');
    assert.deepEqual([typesTo(ana), await approvals(ana)], [['approved'], 0]);
    assert.match((await said(ana)).at(-1) ?? '', /Esta es tu oferta/);
  });

  it('a message that leaves between the look for it and the commit of the turn makes the turn begin anew', async () => {
    const ana = await inReview();
    await closeWindow(ana);
    await approve(ana);
    await sweep();
    await settle();
    await hear(await ana.textEvent('hola'));
    await takeTurns({ ...context, database: beforeStatement(context.database, 'lock_messages', sendAll) });
    await settle();
    assert.deepEqual([typesTo(ana), await approvals(ana)], [['approved'], 0]);
  });

  it('a registration’s message that did not go out yet gives way to the chat', async () => {
    const ana = await applicantAt({}, false);
    await json('conversation', 'start', `${ana.id}`);
    await ana.write('hola');
    await approve(ana);
    await hearOfIt();
    assert.deepEqual([await outbox(ana), await approvals(ana)], [['offer cancelled (replaced)'], 1]);
  });
});

describe('D40, D43: an approval after the end of a conversation', () => {
  it('a message that waits does not go out once the contract is signed', async () => {
    const ana = await inReview();
    await closeWindow(ana);
    await approve(ana);
    await sweep();
    await settle();
    await ana.tap();
    await ana.choose(0);
    await ana.choose(0);
    await ana.write('1234');
    await ana.write('123456');
    assert.equal(await ana.place(), 'signed service');
    await closeWindow(ana);
    await sendAll();
    assert.deepEqual(
      [typesTo(ana), await outbox(ana)],
      [[], ['offer delivered', 'approved cancelled (replaced)']],
    );
  });

  const ENDS: Readonly<Record<string, (ana: Person) => Promise<unknown>>> = {
    declined: (ana) => ana.write('no'),
    closed: ({ id }) => json('conversation', 'close', `${id}`),
    expired: async ({ id }) => {
      await database.query(
        "UPDATE conversations SET timer = 'expire', due_at = moved_at, moved_ms = 0 WHERE application_id = $1",
        [id],
      );
      await settle();
    },
  };
  for (const [end, act] of Object.entries(ENDS)) {
    it(`after ${end} the message goes out, and the tap on it begins a new conversation`, async () => {
      const ana = await applicantAt();
      await ana.tap();
      await act(ana);
      const first = await ana.row();
      assert.equal(await ana.place(), `${end} service`);
      await approve(ana);
      await hearOfIt();
      assert.deepEqual(typesTo(ana), ['approved']);
      await tapOnApproval(ana);
      assert.notEqual((await ana.row()).id, first.id);
      assert.equal(await ana.place(), 'data_consent service');
      assert.match((await said(ana)).at(-1) ?? '', /autorizas/);
    });
  }

  it('a second tap after the end of the second conversation begins nothing, and is answered once', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('no');
    await approve(ana);
    await hearOfIt();
    await tapOnApproval(ana);
    await ana.write('no');
    const { id } = await ana.row();
    const before = (await said(ana)).length;
    await tapOnApproval(ana);
    await tapOnApproval(ana);
    assert.deepEqual([(await ana.row()).id, await ana.place()], [id, 'declined service']);
    assert.equal((await said(ana)).length, before + 1);
  });

  it('a second tap on the offer from before the end begins nothing, and is answered once', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('no');
    const { id } = await ana.row();
    await ana.tap();
    await ana.tap();
    await approve(ana);
    await hearOfIt();
    await hear({ ...(await ana.tapEvent()), contextMessageId: `wamid.${ana.id}` } as never);
    await settle();
    assert.equal((await ana.row()).id, id);
    assert.equal((await said(ana)).length, 3);
  });

  it('no tap from before the end, and none on what came before it, begins a conversation again', async () => {
    const ana = await applicantAt();
    await ana.write('hola');
    await database.query('UPDATE replies SET channel_message_id = $2 WHERE application_id = $1', [
      ana.id,
      toBigint(channelIndexOf(vault, `wamid.button.${ana.id}`)),
    ]);
    const onButton = async () => ({ ...(await ana.tapEvent()), contextMessageId: `wamid.button.${ana.id}` });
    const [first, withoutContext] = [await onButton(), await ana.tapEvent()];
    await hear(first);
    await settle();
    await ana.write('no');
    const { id } = await ana.row();
    await approve(ana);
    await hearOfIt();
    for (const [name, tap] of Object.entries({ first, again: await onButton(), withoutContext })) {
      await hear(tap);
      await settle();
      assert.equal((await ana.row()).id, id, name);
    }
    await tapOnApproval(ana);
    assert.notEqual((await ana.row()).id, id);
  });

  it('after a withdrawal and after an opt-out no message goes out, and no tap begins anything', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    for (const one of [ana, eva]) await one.tap();
    await ana.write('me arrepentí');
    await eva.write('BAJA');
    assert.deepEqual([await ana.place(), await eva.place()], ['withdrawn service', 'closed service']);
    for (const one of [ana, eva]) {
      const { id } = await one.row();
      await approve(one);
      await hearOfIt();
      await one.tap();
      assert.deepEqual([typesTo(one), (await one.row()).id], [[], id]);
    }
    assert.match((await run('message', 'show', `${eva.id}`)).out, /suppressed/);
  });
});
