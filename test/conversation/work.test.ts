/** How long the work beside a conversation is tried, and what the operator reads of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Performer } from '../../src/subjects/conversation/uses/ports.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

/** A person who has sent a file that nobody could read yet, for this reason. */
async function waitingFor(reason: string) {
  const readDocument: Performer['readDocument'] = async () => ({ retryAfterMs: 0, reason });
  const chat = await conversationsOf(store, key, { performer: goodPerformer({ readDocument }) });
  const person = await chat.applicantAt();
  await person.tap();
  await person.write('sí');
  await person.sendFile();
  const workAt = (tries: number) =>
    store.database.query(
      `UPDATE conversation_work SET tries = $2, due_at = now(), leased_until = NULL WHERE application_id = $1`,
      [person.id, tries - 1],
    );
  /** The processes of all tries before have died: none has put the work off. */
  const diedAt = (tries: number) =>
    store.database.query(
      'UPDATE conversation_work SET tries = $2, due_at = now(), reason = NULL WHERE application_id = $1',
      [person.id, tries - 1],
    );
  const isWaiting = async () => {
    const { rows } = await store.database.query(
      'SELECT reason FROM conversation_work WHERE application_id = $1',
      [person.id],
    );
    return rows.length === 1 && rows[0].reason === reason;
  };
  const tryAt = async (tries: number) => {
    await workAt(tries);
    await chat.settle();
    return isWaiting();
  };
  return { tryAt, diedAt, settle: chat.settle, isWaiting, faults: chat.faults, replies: person.replies };
}

describe('a file that waits', () => {
  for (const reason of ['scanner', 'store', 'unknown_key']) {
    it(`for the operator (${reason}) does so for a day, and then the operator reads it`, async () => {
      const { tryAt, faults, replies } = await waitingFor(reason);
      assert.equal(await tryAt(11), true);
      assert.equal(await tryAt(149), true);
      assert.deepEqual(faults, []);
      assert.equal(await tryAt(150), false);
      assert.match(String(faults), new RegExp(reason));
      assert.match(JSON.stringify((await replies()).at(-1)), /No pudimos descargar/);
    });
  }
  it('and whose process dies each time is tried no more after eleven tries, and is not read once more', async () => {
    const { diedAt, settle, isWaiting, faults, replies } = await waitingFor('channel');
    await diedAt(11);
    await settle();
    assert.equal(await isWaiting(), false);
    assert.match(String(faults), /channel/);
    const other = await waitingFor('channel');
    await other.diedAt(12);
    await other.settle();
    assert.equal(await other.isWaiting(), false);
    assert.match(String(other.faults), /process_ended/);
    assert.match(JSON.stringify((await replies()).at(-1)), /No pudimos descargar/);
  });
  it('for the channel does so for half an hour: the person may send it again', async () => {
    const { tryAt, faults } = await waitingFor('channel');
    assert.equal(await tryAt(10), true);
    assert.equal(await tryAt(11), false);
    assert.match(String(faults), /channel/);
  });
});
