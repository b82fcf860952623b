/** The chat of an ended conversation goes after CONVERSATION_DAYS, and nothing else does (D39, D43). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stampEnded } from '../../src/subjects/conversation/sql/trim.ts';
import { stampChats, trimConversations, trimStrangers } from '../../src/subjects/conversation/uses/trim.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { testUpkeep } from '../support/upkeep.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { hear, settle, deliver, applicantAt } = await conversationsOf(store, key);
const DAY_MS = 86_400_000;
type Somebody = Awaited<ReturnType<typeof applicantAt>>;

/** Lets this many days of elapsed time pass for what the upkeep has seen. */
async function pass(days: number): Promise<void> {
  await database.query('UPDATE conversations SET ended_ms = ended_ms - $1', [days * DAY_MS]);
  await database.query('UPDATE replies SET seen_ms = seen_ms - $1', [days * DAY_MS]);
}

/** A turn of the upkeep with these days. */
async function upkeep(days: number): Promise<void> {
  await stampChats(database);
  await trimConversations(database, days);
  await trimStrangers(database, days);
}

/** A conversation that the person ended, whose replies arrived. */
async function ended(): Promise<Somebody> {
  const ana = await applicantAt();
  await ana.tap();
  await ana.write('me retiro');
  assert.equal(await ana.place(), 'withdrawn service');
  return ana;
}

/** The numbers of inputs and of replies of the application. */
async function chatOf(id: number): Promise<[inputs: number, replies: number]> {
  const { rows } = await database.query(
    `SELECT (SELECT count(*)::integer FROM conversation_inputs WHERE application_id = $1) AS inputs,
      (SELECT count(*)::integer FROM replies WHERE application_id = $1) AS replies`,
    [id],
  );
  return [rows[0].inputs, rows[0].replies];
}

it('D39: ended chats go after their days of elapsed time; open ones and signed ones stay', async () => {
  const [over, signed, open] = [await applicantAt(), await applicantAt(), await applicantAt()];
  for (const person of [over, signed, open]) await person.tap();
  await settle();
  const before = await chatOf(over.id);
  assert.ok(before[0] > 0 && before[1] > 0, `${before}`);
  await database.query(
    `UPDATE conversations SET ended_at = now() - interval '10 years', due_at = NULL, timer = NULL,
      place = CASE WHEN application_id = $2 THEN 'signed' ELSE 'closed' END
    WHERE application_id IN ($1, $2)`,
    [over.id, signed.id],
  );
  await database.query(
    "INSERT INTO loan_contracts (application_id, state, elapsed_ms) VALUES ($1, 'signed', 0)",
    [signed.id],
  );
  await database.query("UPDATE replies SET status = 'delivered'");
  // The clock says ten years; no time has elapsed since the upkeep saw the end.
  await stampEnded(database);
  assert.equal(await trimConversations(database, 30), 0);
  assert.deepEqual(await chatOf(over.id), before);
  await pass(29);
  assert.equal(await trimConversations(database, 30), 0);
  await pass(1);
  // The job of the upkeep, as the service's role.
  const { turn } = await testUpkeep(store, { CONVERSATION_DAYS: '30' });
  for (let index = 0; index < 20; index += 1) assert.deepEqual(await turn(), []);
  assert.deepEqual(await chatOf(over.id), [0, 0]);
  for (const person of [signed, open]) assert.deepEqual(await chatOf(person.id), before);
  const { rows } = await database.query('SELECT count(*)::integer AS kept FROM conversations');
  assert.equal(rows[0].kept, 3, 'a conversation stays with its application');
});

it('a reply that waits, and a conversation that another session holds, are left', async () => {
  const [waits, held] = [await applicantAt(), await applicantAt()];
  for (const person of [waits, held]) await person.tap();
  await settle();
  await database.query(
    `UPDATE conversations SET ended_at = now(), place = 'closed', due_at = NULL, timer = NULL
    WHERE application_id IN ($1, $2)`,
    [waits.id, held.id],
  );
  await database.query("UPDATE replies SET status = 'queued' WHERE application_id = $1", [waits.id]);
  await stampEnded(database);
  await pass(31);
  const other = await database.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM conversations WHERE application_id = $1 FOR UPDATE', [held.id]);
    assert.equal(await trimConversations(database, 30), 1);
    const [inputs, replies] = await chatOf(waits.id);
    assert.deepEqual([inputs, replies > 0], [0, true]);
    assert.ok((await chatOf(held.id))[0] > 0);
  } finally {
    await other.query('ROLLBACK');
    other.release();
  }
  assert.equal(await trimConversations(database, 30), 1);
  assert.deepEqual(await chatOf(held.id), [0, 0]);
});

it('D39: what a person writes after the chat went is kept for the days, and goes too', async () => {
  const ana = await ended();
  await upkeep(30);
  await pass(30);
  await upkeep(30);
  assert.deepEqual(await chatOf(ana.id), [0, 0]);
  for (const words of ['hola', 'asesor']) {
    await ana.write(words);
    const grown = await chatOf(ana.id);
    assert.deepEqual(grown, [1, 1]);
    await upkeep(30);
    await pass(29);
    await upkeep(30);
    assert.deepEqual(await chatOf(ana.id), grown, 'the channel may send the message again');
    await pass(1);
    await upkeep(30);
    assert.deepEqual(await chatOf(ana.id), [0, 0]);
  }
  // What an operator says there.
  await database.query('UPDATE conversations SET heard_at = now() WHERE application_id = $1', [ana.id]);
  await json('conversation', 'say', `${ana.id}`, 'Le escribo mañana.');
  await deliver();
  await upkeep(30);
  await pass(30);
  await upkeep(30);
  assert.deepEqual(await chatOf(ana.id), [0, 0]);
});

it('D39: what waits while the chat goes is not lost, and goes later', async () => {
  const ana = await ended();
  await upkeep(30);
  await pass(30);
  await hear(await ana.textEvent('hola'));
  await database.query(
    "UPDATE replies SET status = 'sending' WHERE turn = (SELECT max(turn) FROM replies WHERE application_id = $1)",
    [ana.id],
  );
  await upkeep(30);
  assert.deepEqual(await chatOf(ana.id), [1, 1], 'a message that no turn has taken, and a reply on its way');
  await database.query("UPDATE replies SET status = 'delivered' WHERE application_id = $1", [ana.id]);
  await settle();
  await upkeep(30);
  await pass(30);
  await upkeep(30);
  assert.deepEqual(await chatOf(ana.id), [0, 0]);
});

it('D46: the chat of a signed contract stays for as long as the contract, and no other one', async () => {
  const [ana, bea] = [await ended(), await ended()];
  await database.query(
    "INSERT INTO loan_contracts (application_id, state, elapsed_ms) VALUES ($1, 'withdrawn', 0)",
    [ana.id],
  );
  const before = await chatOf(ana.id);
  for (let index = 0; index < 2; index += 1) {
    await upkeep(30);
    await pass(30);
    await upkeep(30);
    assert.deepEqual([await chatOf(ana.id), await chatOf(bea.id)], [before, [0, 0]]);
  }
  await database.query("UPDATE loan_contracts SET state = 'dropped' WHERE application_id = $1", [ana.id]);
  await upkeep(30);
  await pass(30);
  await upkeep(30);
  assert.deepEqual(await chatOf(ana.id), [0, 0]);
});

it('D39: answers to persons without a conversation go after the days, but for those of signed applications', async () => {
  const [ana, eva, signer] = [await applicantAt(), await applicantAt(), await applicantAt()];
  await hear(await ana.textEvent('hola'));
  await hear(await eva.textEvent('número equivocado'));
  await hear(await signer.textEvent('hola'));
  await deliver();
  await database.query(
    "INSERT INTO loan_contracts (application_id, state, elapsed_ms) VALUES ($1, 'signed', 0)",
    [signer.id],
  );
  await database.query("UPDATE replies SET created_at = now() - interval '10 years'");
  await upkeep(30);
  await pass(29);
  await upkeep(30);
  for (const { id } of [ana, eva, signer]) assert.deepEqual(await chatOf(id), [0, 1]);
  await pass(1);
  const { turn } = await testUpkeep(store, { CONVERSATION_DAYS: '30' });
  for (let index = 0; index < 20; index += 1) assert.deepEqual(await turn(), []);
  for (const { id } of [ana, eva]) assert.deepEqual(await chatOf(id), [0, 0]);
  assert.deepEqual(await chatOf(signer.id), [0, 1]);
});
