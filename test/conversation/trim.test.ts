/** The chat of an ended conversation goes after CONVERSATION_DAYS, and nothing else does (D39, D43). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stampEnded } from '../../src/conversation/sql/trim.ts';
import { trimConversations } from '../../src/conversation/uses/trim.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { testUpkeep } from '../support/upkeep.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { settle, applicantAt } = await conversationsOf(store, key);
const DAY_MS = 86_400_000;

/** Lets this many days of elapsed time pass for conversations that were seen to have ended. */
const pass = (days: number) =>
  database.query('UPDATE conversations SET ended_ms = ended_ms - $1', [days * DAY_MS]);

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
  const [ended, signed, open] = [await applicantAt(), await applicantAt(), await applicantAt()];
  for (const person of [ended, signed, open]) await person.tap();
  await settle();
  const before = await chatOf(ended.id);
  assert.ok(before[0] > 0 && before[1] > 0, `${before}`);
  await database.query(
    `UPDATE conversations SET ended_at = now() - interval '10 years', due_at = NULL, timer = NULL,
      place = CASE application_id WHEN $2 THEN 'signed' ELSE 'closed' END
    WHERE application_id IN ($1, $2)`,
    [ended.id, signed.id],
  );
  await database.query("UPDATE replies SET status = 'delivered'");
  // The clock says ten years; no time has elapsed since the upkeep saw the end.
  await stampEnded(database);
  assert.equal(await trimConversations(database, 30), 0);
  assert.deepEqual(await chatOf(ended.id), before);
  await pass(29);
  assert.equal(await trimConversations(database, 30), 0);
  await pass(1);
  // The job of the upkeep, as the service's role.
  const { turn } = await testUpkeep(store, { CONVERSATION_DAYS: '30' });
  for (let index = 0; index < 20; index += 1) assert.deepEqual(await turn(), []);
  assert.deepEqual(await chatOf(ended.id), [0, 0]);
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
