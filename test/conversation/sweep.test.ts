/** The look at what changed beside conversations (D43): soon for what changed now, and at last for everything. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PART } from '../../src/subjects/conversation/sql/sweep.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { hear, sweep, settle, applicantAt } = await conversationsOf(store, key);

it('a change of now is told at once beside any number of open conversations, an older one within a round', async () => {
  const [ana, eva, leo] = [await applicantAt(), await applicantAt(), await applicantAt()];
  for (const person of [ana, eva, leo]) await person.tap();
  // They come after the three persons in the round, and the first look takes it past the persons.
  await store.database.query(
    `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn)
    SELECT 1000 + n, $2, -n, 'in_review', 1 FROM generate_series(1, $1::integer) AS n`,
    [2 * PART + 10, partner],
  );
  await sweep();
  await json('application', 'reject', `${ana.id}`, '--reason', 'test');
  await json('suppression', 'add', eva.phone as string);
  await json('application', 'reject', `${leo.id}`, '--reason', 'test');
  await store.database.query(
    "UPDATE application_events SET at = now() - interval '1 hour' WHERE application_id = $1",
    [leo.id],
  );
  // A busy machine may take longer until here than a change is one of now.
  await store.database.query('UPDATE application_events SET at = now() WHERE application_id = $1', [ana.id]);
  await store.database.query('UPDATE suppressions SET changed_at = now()');
  assert.equal(await sweep(), 2);
  await settle();
  assert.deepEqual([await ana.place(), await eva.place()], ['closed service', 'closed service']);
  assert.equal((await sweep()) + (await sweep()), 1);
  await settle();
  assert.equal(await leo.place(), 'closed service');
});

it('an opt-out in the chat waits for its words, which say how the conversation ends', async () => {
  const { database, vault } = store;
  for (const [isLate, place] of [
    [false, 'withdrawn service'],
    [true, 'closed service'],
  ] as const) {
    const ana = await applicantAt();
    await ana.tap();
    const cancels = await ana.textEvent('cancelar');
    await applyChannelEvents({ database, vault }, [cancels]);
    await database.query("UPDATE suppressions SET changed_at = now() - $1 * interval '1 second'", [
      isLate ? 6 : 0,
    ]);
    assert.equal(await sweep(), Number(isLate));
    await settle();
    await hear(cancels);
    await settle();
    assert.equal(await ana.place(), place);
  }
});
