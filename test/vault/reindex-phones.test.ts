/** A store from before phones were read by their plans (D11): a phone with trunk digits becomes the one that it is. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { type Phone, toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { openEnvelope, sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { reindex } from '../../src/subjects/vault/uses/reindex.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { APPROVED, applicant } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { claimDue } from '../support/delivery-context.ts';
import { assertInvariants } from '../support/erased.ts';
import { forgetServices, putFormerForm } from '../support/former-form.ts';
import { registrarOf } from '../support/intake.ts';
import { remac } from '../support/remac.ts';
import { LeapingClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database, vault } = store;
const WITNESSES = await loadWitnesses();
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'EC');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);

const indexOf = (phone: string, of: Vault = vault) => toBigint(phoneIndexOf(of, toPhone(phone)));
const registerOne = async (phone: string) =>
  (await register(key, [applicant({ ...APPROVED, phone: phone as Phone })]))[0]!;
const remake = (of: Vault = vault) =>
  reindex({ database, vault: of, clock: new LeapingClock(), actor: 'ana' }, WITNESSES.reindexings);

/** Stores an open application, the only one of its batch, with the phone as the version before did. */
async function registerSpelled(phone: string, spelled: string): Promise<number> {
  // A reindex with a newer key has made the MACs of API keys anew.
  await remac(store);
  // The phone may be taken: it is another one until it is spelled.
  const id = await registerOne('+593990000001');
  const { rows } = await database.query('SELECT seal_id, envelope FROM batches WHERE id = batch_of($1)', [
    id,
  ]);
  const { seal_id, envelope } = rows[0];
  const record = openEnvelope(vault, seal_id, envelope)[0]!;
  const application = { ...record, phone: toPhone(spelled) };
  await database.query('UPDATE batches SET envelope = $2, phones = $3 WHERE id = batch_of($1)', [
    ...[id, sealEnvelope(vault, seal_id, [{ position: 0, application }]), [indexOf(spelled)]],
  ]);
  // On a cluster the index tells the machine of a row.
  await database.query('DELETE FROM open_phones WHERE application_id = $1', [id]);
  await database.query('INSERT INTO open_phones (phone_index, application_id) VALUES ($1, $2)', [
    ...[indexOf(spelled), id],
  ]);
  assert.notEqual(indexOf(spelled), indexOf(phone));
  return id;
}

const open = async () =>
  (
    await database.query('SELECT phone_index, application_id FROM open_phones ORDER BY application_id')
  ).rows.map((row) => [Number(row.application_id), row.phone_index]);

/** The tables with rows of an index. */
async function tablesOf(index: string): Promise<string[]> {
  const tables = [
    'suppressions',
    'recipients',
    'waiting_rejections',
    'replies',
    'channel_users',
    'erased_phones',
  ];
  const found = [];
  for (const table of [...tables, 'conversations', 'open_phones']) {
    const { rows } = await database.query(`SELECT FROM ${table} WHERE phone_index = $1`, [index]);
    if (rows.length > 0) found.push(table);
  }
  return found;
}

/** Rows of each table about an application and its phone. */
async function fill(id: number, index: string): Promise<void> {
  const insert = (text: string) => database.query(text, text.includes('$2') ? [index, id] : [index]);
  await insert("INSERT INTO suppressions (phone_index, source) VALUES ($1, 'operator')");
  await insert('INSERT INTO waiting_rejections (phone_index, partner_id, message_id) VALUES ($1, 1, $2)');
  await insert(
    'INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES ($1, now(), $2, 1, false)',
  );
  await insert('INSERT INTO channel_users (user_index, phone_index, heard_ms) VALUES (77, $1, 0)');
  await insert('INSERT INTO erased_phones VALUES (gen_random_uuid(), $1)');
  await insert(
    `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn)
      VALUES ($2, 1, $1, 'pending_signature', 1)`,
  );
  await insert(
    `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, status, due_at)
      VALUES ($2, 1, 1, $1, '\\x01', now(), 'delivered', now())`,
  );
}

describe('vault reindex of phones with trunk digits', () => {
  const PHONE = '+593987654321';
  const SPELLED = '+5930987654321';

  beforeEach(async () => {
    await database.query(
      `TRUNCATE batches, open_phones, outbox, message_counts, application_events, application_states, suppressions, recipients, replies,
        waiting_rejections, channel_users, erased_phones, conversations, reindexes, secret_checks CASCADE`,
    );
    await confirmSecrets(database, TEST_SECRETS, WITNESSES, machineClock);
    await forgetServices(database);
  });

  for (const newer of [false, true]) {
    it(`D11: all that is stored under it is the phone's, ${newer ? 'with a newer index key' : 'with the same key'}`, async () => {
      const id = await registerSpelled(PHONE, SPELLED);
      await fill(id, indexOf(SPELLED));
      await putFormerForm(database, vault);
      const now = newer
        ? new Vault({ ...TEST_SECRETS, newerIndexKeys: [createHash('sha256').update('n').digest()] })
        : vault;
      const tables = await tablesOf(indexOf(SPELLED));
      assert.equal(tables.length, 8);
      assert.equal((await remake(now))?.unopened, 0);
      const after = indexOf(PHONE, now);
      assert.deepEqual(await tablesOf(after), tables);
      const left = [...(await tablesOf(indexOf(SPELLED))), ...(await tablesOf(indexOf(SPELLED, now)))];
      assert.deepEqual(
        left.filter((table) => table !== 'erased_phones'),
        [],
      );
      assert.deepEqual(await open(), [[id, after]]);
      const own = commandLine({ ...store, vault: now });
      for (const typed of [PHONE, '+593 098 765 4321', '098 765 4321']) {
        const [shown] = await own.json('application', 'list', '--phone', typed, ...REVEAL);
        assert.deepEqual([shown.id, shown.phone, shown.fault], [id, PHONE, null], typed);
      }
      if (!newer) assert.equal(await registerOne(PHONE), 0, 'the phone is still held');
    });
  }

  it('D11: a message that waits goes to the phone itself', async () => {
    await registerSpelled(PHONE, SPELLED);
    await putFormerForm(database, vault);
    await remake();
    await database.query("UPDATE sender SET alive_at = now() + interval '1 hour'");
    const claimed = await claimDue({ database, vault, clock: machineClock }, 10, null, async ({ messages }) =>
      messages.map(({ phone, fault }) => [phone, fault]),
    );
    assert.deepEqual(claimed, [[PHONE, null]]);
  });

  it('D11: two open applications whose phones become one stay open; one holds the phone', async () => {
    for (const spelledFirst of [true, false]) {
      await database.query('TRUNCATE batches, open_phones, outbox, message_counts, application_events');
      const first = spelledFirst ? await registerSpelled(PHONE, SPELLED) : await registerOne(PHONE);
      const second = spelledFirst ? await registerOne(PHONE) : await registerSpelled(PHONE, SPELLED);
      const [plain, spelled] = spelledFirst ? [second, first] : [first, second];
      await putFormerForm(database, vault);
      assert.equal((await open()).length, 2);
      await remake();
      assert.deepEqual(await open(), [[plain, indexOf(PHONE)]], 'who held it goes on holding it');
      for (const id of [first, second])
        assert.equal((await json('application', 'show', `${id}`)).status, 'pending_signature');
      const { history } = await json('application', 'show', `${spelled}`);
      assert.equal(history.at(-1).action, 'free_phone');
      assert.equal(await registerOne(PHONE), 0, 'a new one is a duplicate');
      await assertInvariants(store);
      await forgetServices(database);
    }
  });

  it('D11: of spellings that become one the oldest application holds the phone', async () => {
    // The library reads both as +5491123456789.
    const first = await registerSpelled('+5491123456789', '+54111523456789');
    const second = await registerSpelled('+5491123456789', '+540111523456789');
    await putFormerForm(database, vault);
    await remake();
    assert.deepEqual(await open(), [[first, indexOf('+5491123456789')]]);
    assert.equal((await json('application', 'show', `${second}`)).history.at(-1).action, 'free_phone');
    await assertInvariants(store);
  });

  it('D11: a suppression of either spelling holds, and a lifted one lifts none', async () => {
    const insert = (phone: string, active: boolean) =>
      database.query("INSERT INTO suppressions (phone_index, active, source) VALUES ($1, $2, 'keyword')", [
        ...[indexOf(phone), active],
      ]);
    for (const [spelled, plain] of [
      [true, false],
      [false, true],
      [true, null],
      [null, true],
      [false, null],
    ]) {
      await database.query('TRUNCATE batches, open_phones, outbox, suppressions');
      await registerSpelled(PHONE, SPELLED);
      if (spelled !== null) await insert(SPELLED, spelled!);
      if (plain !== null) await insert(PHONE, plain!);
      await putFormerForm(database, vault);
      await remake();
      const { rows } = await database.query('SELECT phone_index, active FROM suppressions');
      assert.deepEqual(
        rows,
        [{ phone_index: indexOf(PHONE), active: spelled === true || plain === true }],
        `${spelled} ${plain}`,
      );
      await forgetServices(database);
    }
  });

  it('D11: a phone that no plan reads stays the phone that it is', async () => {
    const id = await registerSpelled(PHONE, '+12345678');
    await putFormerForm(database, vault);
    assert.equal((await remake())?.unopened, 0);
    assert.deepEqual(await open(), [[id, indexOf('+12345678')]]);
    const shown = await json('application', 'show', `${id}`, ...REVEAL);
    assert.deepEqual([shown.phone, shown.fault], ['+12345678', null]);
  });
});
