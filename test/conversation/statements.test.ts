/** How many statements, each a round trip, a message in a conversation takes up to its queued reply. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { channelIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { hearingStatements } from '../support/heard-statements.ts';

const MOST = 6;

const store = await testDatabase();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { database, take } = hearingStatements(store.runtime);
const { context, hear, settle, skipPause, applicantAt } = await conversationsOf(
  { ...store, runtime: database },
  key,
);
const ana = await applicantAt();
await ana.tap();
await ana.choose(0);
assert.equal(await ana.place(), 'earnings service');

/** What the message took until its turn was over; then everything that follows is done. */
async function statementsOf(event: ChannelEvent): Promise<string[]> {
  take();
  await hear(event);
  await skipPause();
  assert.equal(await takeTurns(context), 1);
  const statements = take();
  await settle();
  return statements;
}

it('a text takes six statements at most', async () => {
  const before = (await ana.replies()).length;
  const statements = await statementsOf(await ana.textEvent('¿qué es esto?'));
  assert.ok(statements.length <= MOST, statements.join('\n'));
  assert.equal((await ana.replies()).length, before + 1);
});

it('a document takes six statements at most', async () => {
  const statements = await statementsOf(await ana.fileEvent());
  assert.ok(statements.length <= MOST, statements.join('\n'));
});

it('a button takes six statements at most', async () => {
  const [reply] = (await ana.replies()).slice(-1);
  const { rows } = await store.database.query(
    `UPDATE replies SET channel_message_id = $2 WHERE id = (
       SELECT id FROM replies WHERE application_id = $1 ORDER BY turn DESC LIMIT 1) RETURNING id`,
    [ana.id, toBigint(channelIndexOf(store.vault, 'wamid.asked'))],
  );
  assert.equal(rows.length, 1);
  const tap = await ana.tapEvent(reply!.buttons[0]!.payload);
  const statements = await statementsOf({ ...tap, contextMessageId: 'wamid.asked' } as ChannelEvent);
  assert.ok(statements.length <= MOST, statements.join('\n'));
  assert.notEqual(await ana.place(), 'earnings service');
});
