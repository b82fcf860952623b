/** Conversations while processes have different data keys: none of them changes the order of what happened (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { Vault } from '../../src/seal/vault.ts';
import { hearMessages } from '../../src/subjects/conversation/uses/hear.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { NEW } from '../support/rotated-secrets.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { hear, settle, context, applicantAt } = await conversationsOf(store, key);
const newer = new Vault(NEW);

/** An event that a process with the newer data key hears. */
const hearNewer = (event: ChannelEvent) =>
  applyChannelEvents(
    {
      ...{ database, vault: newer },
      hear: async (heard) => void (await hearMessages({ database, vault: newer }, heard)),
    },
    [event],
  );
const ago = async (ms: number) => new Date((await databaseTime(database)).getTime() - ms);

describe('an input of a data key that a process lacks (D43)', () => {
  it('keeps later inputs waiting, until a process with the key takes all of them in their order', async () => {
    const ana = await applicantAt();
    await ana.tap();
    const { turn } = await ana.row();
    await hearNewer(await ana.textEvent('sí', await ago(20_000)));
    await hear(await ana.textEvent('sí, autorizo', await ago(10_000)));
    await database.query("UPDATE conversation_inputs SET stored_at = now() - interval '1 minute'");
    assert.equal(await takeTurns(context), 0);
    assert.deepEqual([(await ana.row()).turn, await ana.place()], [turn, 'data_consent service']);
    assert.equal(await takeTurns({ ...context, vault: newer }), 1);
    const { rows } = await database.query(
      'SELECT turn FROM conversation_inputs WHERE conversation_id = $1 ORDER BY id DESC LIMIT 2',
      [(await ana.row()).id],
    );
    assert.deepEqual(
      rows.map((row) => row.turn),
      [turn + 1, turn + 1],
    );
  });

  it('keeps a timer of its conversation from ringing, and no other conversation from going on', async () => {
    const [ana, other] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await hearNewer(await ana.textEvent('sí'));
    await database.query(
      "UPDATE conversations SET due_at = now() - interval '1 hour' WHERE application_id = $1",
      [ana.id],
    );
    await other.tap();
    await settle();
    assert.deepEqual(
      [await ana.place(), (await ana.replies()).length, await other.place()],
      ['data_consent service', 1, 'data_consent service'],
    );
  });

  it('of an applicant that a process cannot read: the first turn, which decides the language, is left', async () => {
    const ana = await applicantAt();
    await hear(await ana.tapEvent());
    await database.query(`UPDATE batches SET envelope = set_byte(envelope, 0, 2) WHERE id = batch_of($1)`, [
      ana.id,
    ]);
    await database.query(
      `INSERT INTO secret_checks (name, value, confirmed, seals_at)
        VALUES ('DATA_KEYS 2', gen_random_uuid(), true, now())`,
    );
    assert.equal(await takeTurns(context), 0);
    assert.equal((await ana.row()).flow_id, null);
  });
});
