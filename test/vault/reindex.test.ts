/** The index key is replaced while no service runs: every stored blind index is made again from the one before. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { readiness } from '../../src/app/readiness.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { storedAgain } from '../../src/seal/blind-indexes.ts';
import { SealMark } from '../../src/seal/data-keys.ts';
import type { Reindexing } from '../../src/seal/reindex.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { readIndexKeys } from '../../src/seal/written-keys.ts';
import { fillLookUpBuckets } from '../../src/subjects/applications/sql/partitions.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { reindex } from '../../src/subjects/vault/uses/reindex.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { claimDue } from '../support/delivery-context.ts';
import { addEvents } from '../support/pushes.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { startWithoutUpkeep } from '../support/start-patiently.ts';
import { LeapingClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const witnesses = await loadWitnesses();
const fresh = createHash('sha256').update('fresh').digest();
const OLD = TEST_SECRETS;
const NEW = { ...TEST_SECRETS, newerIndexKeys: [fresh] };
const third = createHash('sha256').update('third').digest();
const THIRD = { ...TEST_SECRETS, newerIndexKeys: [fresh, third] };
const { apiKey, partnerId } = await addPartner(store);

async function serve(secrets: typeof OLD) {
  await checkSecrets(database, secrets, witnesses, machineClock);
  const own = { ...store, vault: new Vault(secrets) };
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const service = await startWithoutUpkeep(config, own, pino({ level: 'silent' }));
  after(() => service.stop());
  await confirmSecrets(database, secrets, witnesses, machineClock);
  const postOne = (application: object, headers = {}) =>
    post(`${service.url}/PRO`, apiKey, { applications: [application] }, headers);
  const send = async (application: object, headers = {}) =>
    (await postOne(application, headers)).body as {
      results: { id: number }[];
      errors_detail?: { error: string }[];
    };
  const events = async (query = '') =>
    (
      await fetch(`${service.url}/PRO/events${query}`, { headers: { 'X-API-Key': apiKey } })
    ).json() as Promise<{
      events: { id: string }[];
    }>;
  return {
    ...commandLine({ ...own, clock: new LeapingClock() }),
    send,
    post: postOne,
    events,
    stop: () => service.stop(),
  };
}

const forgetServices = () =>
  database.query(
    "UPDATE secret_checks SET seals_at = now() - interval '61 seconds' WHERE seals_at IS NOT NULL",
  );

/** Indexes in tables that no request of this test fills; each is the one of a text under the old key. */
async function fillOthers(): Promise<void> {
  await database.query(
    `INSERT INTO waiting_rejections (phone_index, partner_id, message_id) VALUES (11, 1, 1), (11, 2, 2)`,
  );
  await database.query(
    `INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES (11, now(), 1, 1, false)`,
  );
  await database.query('INSERT INTO erased_phones VALUES (gen_random_uuid(), 11), (gen_random_uuid(), 15)');
  await database.query(
    `INSERT INTO channel_users (user_index, phone_index, heard_ms) VALUES (12, 11, 0), (13, NULL, 0)`,
  );
  // Two conversations of one phone, and an input that is no message.
  await database.query(
    `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn)
      VALUES (901, 1, 11, 'pending_signature', 1), (902, 1, 11, 'pending_signature', 1), (903, 1, 15, 'pending_signature', 1)`,
  );
  await database.query(
    `INSERT INTO conversation_inputs (conversation_id, application_id, source, seal_id, message_index, at, settles_at, content, turn)
      SELECT c.id, 901, 'person', gen_random_uuid(), u.index, now(), now(), '\\x01', 1 FROM conversations c, unnest('{21,22,NULL}'::bigint[]) AS u(index) WHERE c.application_id = 901`,
  );
  await database.query(
    `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, status, due_at, channel_message_id)
      VALUES (901, 1, 1, 11, '\\x01', now(), 'delivered', now(), 23), (901, 2, 1, 11, '\\x01', now(), 'failed', now(), NULL)`,
  );
  await database.query(
    `INSERT INTO early_events (channel_message_id, user_index, status, at, came_ms) VALUES (24, 12, 'sent', now(), 0)`,
  );
  await database.query(
    `WITH d AS (INSERT INTO documents (application_id, partner_id, purpose, state) VALUES (901, 1, 'earnings', 'received') RETURNING id)
      INSERT INTO document_inputs (input_index, document_id) SELECT u.index, d.id FROM d, unnest('{25,26}'::bigint[]) AS u(index)`,
  );
}

/** Every stored blind index with what tells its row and place apart, but for those of look-up buckets. */
async function indexesByRow() {
  const { rows } = await database.query<{ name: string; row: string; index: string }>(`
    SELECT 'phone' AS name, b.id || ' ' || u.n AS row, u.index::text AS index
      FROM batches b, unnest(b.phones) WITH ORDINALITY AS u(index, n) WHERE u.index IS NOT NULL
    UNION ALL SELECT 'id number', b.id || ' ' || u.n, u.index::text
      FROM batches b, unnest(b.id_numbers) WITH ORDINALITY AS u(index, n) WHERE u.index <> 0
    UNION ALL SELECT 'open', application_id::text, phone_index::text FROM open_phones
    UNION ALL SELECT 'suppressed', source, phone_index::text FROM suppressions
    UNION ALL SELECT 'erased', erasure_id::text, phone_index::text FROM erased_phones
    UNION ALL SELECT 'waiting', message_id::text, phone_index::text FROM waiting_rejections
    UNION ALL SELECT 'recipient', message_id::text, phone_index::text FROM recipients
    UNION ALL SELECT 'user', heard_ms::text, user_index::text FROM channel_users
    UNION ALL SELECT 'conversation', id::text, phone_index::text FROM conversations
    UNION ALL SELECT 'input', id::text, message_index::text FROM conversation_inputs WHERE message_index IS NOT NULL
    UNION ALL SELECT 'phone of a reply', id::text, phone_index::text FROM replies
    UNION ALL SELECT 'reply', id::text, channel_message_id::text FROM replies WHERE channel_message_id IS NOT NULL
    UNION ALL SELECT 'early event', status, channel_message_id::text FROM early_events
    UNION ALL SELECT 'user of an early event', status, user_index::text FROM early_events WHERE user_index IS NOT NULL
    UNION ALL SELECT 'document', document_id::text, input_index::text FROM document_inputs
    UNION ALL SELECT 'message', message_id::text, channel_message_id::text FROM message_records
      WHERE channel_message_id IS NOT NULL`);
  return byName(rows);
}

function byName<Row extends { name: string; row: string; index: string }>(rows: readonly Row[]): Row[] {
  const key = ({ name, row, index }: Row) => `${name} ${row} ${index}`;
  return rows.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

describe('vault reindex', () => {
  it('makes every index again: duplicates, opt-outs, searches, cursors and replays go on as before', async () => {
    const old = await serve(OLD);
    const [one, two] = [anApplication(), anApplication()];
    const key = { 'Idempotency-Key': 'before' };
    const first = await old.send(one, key);
    const [{ id }] = first.results as [{ id: number }];
    await old.send(two);
    await addEvents(store, partnerId, [id]);
    const feed = await old.events();
    await old.run('suppression', 'add', '+57 300 555 0199');
    await fillOthers();
    await database.query(`INSERT INTO message_records (message_id, changed_at, type, status, attempts, tries, partner_id, channel_message_id)
        VALUES (128, now(), 'approved', 'delivered', 1, 1, 1, 14)`);
    await database.query('SELECT close_segments(1)');
    await database.query('UPDATE closed_segments SET closed_ms = closed_ms - 60000');
    await fillLookUpBuckets(database);
    const stored = async () =>
      (
        await database.query(`SELECT 'batches' AS name, unnest(phones || id_numbers)::text AS index FROM batches
          UNION ALL SELECT 'open', phone_index::text FROM open_phones
          UNION ALL SELECT 'suppressed', phone_index::text FROM suppressions
          UNION ALL SELECT 'waiting', phone_index::text FROM waiting_rejections
          UNION ALL SELECT 'recipient', phone_index::text FROM recipients
          UNION ALL SELECT 'user', user_index::text FROM channel_users
          UNION ALL SELECT 'conversation', phone_index::text FROM conversations
          UNION ALL SELECT 'input', message_index::text FROM conversation_inputs WHERE message_index IS NOT NULL
          UNION ALL SELECT 'phone of a reply', phone_index::text FROM replies
          UNION ALL SELECT 'reply', channel_message_id::text FROM replies WHERE channel_message_id IS NOT NULL
          UNION ALL SELECT 'document', input_index::text FROM document_inputs
          UNION ALL SELECT 'phone of a user', phone_index::text FROM channel_users WHERE phone_index IS NOT NULL
          UNION ALL SELECT 'message', channel_message_id::text FROM message_records WHERE channel_message_id IS NOT NULL`)
      ).rows as { name: string; index: string }[];
    const before = await stored();

    // A start with the new key before the command, and the command while a service runs, are refused.
    const text = {
      message: /^INDEX_KEY has a newer key than the stored indexes: stop every service and worker, and run/,
    };
    for (const check of [checkSecrets, checkSecretsOfCommand, confirmSecrets])
      await assert.rejects(check(database, NEW, witnesses, machineClock), text);
    const { run, json } = commandLine({ ...store, clock: new LeapingClock(), vault: new Vault(NEW) });
    assert.match(
      (await run('vault', 'reindex')).err,
      /a service or a worker runs: stop all of them, wait a minute/,
    );
    await old.stop();
    await forgetServices();
    assert.equal((await json('vault', 'reindex')).written > 0, true);
    assert.match((await run('vault', 'reindex')).out, /^Nothing to do/);

    const indexes = (rows: { index: string }[]) => rows.map(({ index }) => index);
    assert.deepEqual((await stored()).map(({ name }) => name).sort(), before.map(({ name }) => name).sort());
    const left = indexes(await stored()).filter((index) => indexes(before).includes(index));
    assert.deepEqual(left, []);

    const now = await serve(NEW);
    await assert.rejects(checkSecrets(database, OLD, witnesses, machineClock), /INDEX_KEY is not the one/);
    const again = await now.send({ ...two, id_number: anApplication().id_number });
    assert.equal(again.results.length, 0, 'the phone is still taken');
    assert.deepEqual(await now.send(one, key), first);
    assert.deepEqual(await now.events(), feed);
    assert.deepEqual((await now.events(`?after=${feed.events[0]?.id}`)).events, []);
    for (const _ of ['before the buckets are filled', 'after']) {
      const [found] = await now.json('application', 'list', '--phone', String(one.phone), ...REVEAL);
      assert.deepEqual([found.id, found.phone], [id, String(one.phone)]);
      await fillLookUpBuckets(database);
    }
    assert.match((await now.run('suppression', 'add', '+57 300 555 0199')).out, /already suppressed/);
    const { rows } = await database.query(
      'SELECT count(DISTINCT phone_index)::integer AS n FROM waiting_rejections',
    );
    assert.equal(rows[0].n, 1);
  });

  it('refuses a list without the present key', async () => {
    await forgetServices();
    const other = { ...TEST_SECRETS, indexKey: fresh };
    const { run } = commandLine({ ...store, clock: new LeapingClock(), vault: new Vault(other) });
    assert.match(
      (await run('vault', 'reindex')).err,
      /made with none of the keys of INDEX_KEY: write the new key before/,
    );
    const list = readIndexKeys([third, fresh, TEST_SECRETS.indexKey].map((key) => key.toString('base64')));
    assert.deepEqual([list.indexKey, list.newerIndexKeys], [TEST_SECRETS.indexKey, [fresh, third]]);
  });

  it('is over or goes on, wherever it fails: meanwhile nothing starts and nothing is registered', async () => {
    // A service that was cut off, and comes back.
    const cutOff = await serve(NEW);
    const taken = anApplication();
    assert.equal((await cutOff.send(taken)).results.length, 1);
    await forgetServices();
    const vault = new Vault(THIRD);
    const context = { ...store, clock: new LeapingClock(), vault, actor: 'ana' };
    const before = await indexesByRow();
    let failed = 0;
    /** Each step is undone once, after it has written. */
    const failing = witnesses.reindexings.map((kind): Reindexing => {
      const undone = new Set<string>();
      return {
        ...kind,
        step: async (session, remaking, from) => {
          const done = await kind.step(session, remaking, from);
          if (undone.has(from)) return done;
          undone.add(from);
          throw new Error('the step fails');
        },
      };
    });
    for (;;) {
      const done = await reindex(context, failing).catch((error: Error) => {
        if (error.message !== 'the step fails') throw error;
        return null;
      });
      if (done !== null) {
        assert.ok(done.written > 0);
        break;
      }
      failed += 1;
      assert.ok(failed < 1_000);
      for (const check of [checkSecrets, checkSecretsOfCommand, confirmSecrets]) {
        for (const secrets of [OLD, NEW, THIRD])
          await assert.rejects(check(database, secrets, witnesses, machineClock), {
            message: /^a vault reindex is not over/,
          });
      }
      const again = await cutOff.post({ ...taken, id_number: anApplication().id_number });
      assert.equal(again.status, 500);
      const other = new Vault({ ...THIRD, newerIndexKeys: [fresh, third, Buffer.alloc(32, 9)] });
      await assert.rejects(
        reindex({ ...context, vault: other }, failing),
        /reindex to another INDEX_KEY is not over/,
      );
    }
    assert.ok(failed >= witnesses.reindexings.length, 'every kind has failed once');
    const again = storedAgain(vault, 1);
    const expected = before.map(({ name, index, ...row }) => ({ ...row, name, index: again(index) }));
    assert.deepEqual(await indexesByRow(), byName(expected));
    assert.equal(
      (await cutOff.post(anApplication())).status,
      500,
      'with the key before, also when it is over',
    );
    const passedBy = { database, vault: new Vault(NEW) };
    const claim = () =>
      claimDue({ database, vault: passedBy.vault, clock: machineClock }, 10, null, async () =>
        assert.fail('it claims'),
      );
    for (const act of [claim, () => applyChannelEvents(passedBy, [])])
      await assert.rejects(act(), { code: 'VN005' });
    await cutOff.stop();
    await checkSecrets(database, THIRD, witnesses, machineClock);
    const now = await serve(THIRD);
    assert.equal((await now.send({ ...taken, id_number: anApplication().id_number })).results.length, 0);
    await now.stop();
  });

  it('is noticed by a process that was cut off', async () => {
    const fifth = THIRD;
    const [log, silent]: [string[], object] = [[], {}];
    const readyWith = (secrets: typeof OLD) =>
      readiness(
        { database, vault: new Vault(secrets), clock: machineClock },
        pino(silent, { write: (line) => void log.push(line) }),
      )();
    assert.equal(await readyWith(fifth), true);
    assert.equal(await readyWith(NEW), 'other_index_key');
    assert.match(log.join(''), /the stored indexes were made with another INDEX_KEY/);
  });

  it('knows every column of blind indexes', async () => {
    const { rows } = await database.query(`
      SELECT DISTINCT c.table_name || '.' || c.column_name AS name FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.udt_name IN ('int8', '_int8')
        AND c.column_name ~ 'index|^phones$|^id_numbers$|channel_message_id' AND c.table_name !~ '_to_[0-9]+$'
      ORDER BY 1`);
    assert.deepEqual(
      rows.map(({ name }) => name),
      [
        'batches.id_numbers',
        'batches.phones',
        'cases.message_index',
        'channel_users.phone_index',
        'channel_users.user_index',
        'conversation_inputs.message_index',
        'conversations.phone_index',
        'document_inputs.input_index',
        'early_events.channel_message_id',
        'early_events.user_index',
        'erased_phones.phone_index',
        'excluded_numbers.phone_index',
        // These are emptied, and filled again by the upkeep.
        'look_up_buckets.indexes',
        'message_records.channel_message_id',
        'message_records_after_reviews.channel_message_id',
        'open_phones.phone_index',
        'recipients.phone_index',
        'replies.channel_message_id',
        'replies.phone_index',
        'suppressions.phone_index',
        'waiting_rejections.phone_index',
      ],
      'src/*/sql/reindex.ts makes each of these again: add a new one there',
    );
  });

  it('a running service says so within the last minute', async () => {
    await new SealMark(new Vault(NEW)).tell(database);
    const fourth = {
      ...NEW,
      newerIndexKeys: [fresh, third, Buffer.alloc(32, 4)],
    };
    assert.match(
      (
        await commandLine({ ...store, clock: new LeapingClock(), vault: new Vault(fourth) }).run(
          'vault',
          'reindex',
        )
      ).err,
      /a service or a worker runs/,
    );
  });

  it('lets one process take steps at a time', async () => {
    await forgetServices();
    const vault = new Vault({ ...THIRD, newerIndexKeys: [fresh, third, Buffer.alloc(32, 5)] });
    const context = { ...store, clock: new LeapingClock(), vault, actor: 'ana' };
    const both = await Promise.allSettled([1, 2].map(() => reindex(context, witnesses.reindexings)));
    assert.ok(both.some(({ status }) => status === 'fulfilled'));
    for (const end of both) {
      if (end.status === 'rejected')
        assert.match(String(end.reason), /another vault reindex (is under way|has just)/);
    }
  });
});
