/** `subject erasures` and `subject replay-erasures`: an older store of one's own PostgreSQL is restored. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { idNumberIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { Vault } from '../../src/seal/vault.ts';
import { phonesInStore, readErasure } from '../../src/subjects/rights/uses/written-erasure.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { assertInvariants, tablesWith } from '../support/erased.ts';
import { registrarOf } from '../support/intake.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-erasures-'));
after(() => rmSync(folder, { recursive: true }));
const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const PERSON = { name: 'Persona Vuelta', id_number: '44556677', phone: toPhone('+573004440001') };
const TRACES = [PERSON.name, PERSON.id_number, toBigint(idNumberIndexOf(vault, PERSON.id_number))];

/** The rows of a batch, as an older backup has them. */
const ROWS = ['batches', 'open_phones', 'outbox', 'message_counts'];
async function save(): Promise<void> {
  for (const table of ROWS) await database.query(`CREATE TABLE old_${table} AS TABLE ${table}`);
}
async function restore(): Promise<void> {
  for (const table of ROWS) {
    await database.query(`DELETE FROM ${table}`);
    await database.query(`INSERT INTO ${table} TABLE old_${table}`);
    await database.query(`DROP TABLE old_${table}`);
  }
  await database.query(
    'TRUNCATE erasures, erased_phones, application_states, application_events, suppressions, waiting_rejections',
  );
}
const file = join(folder, 'erasures.json');
const replay = () => json('subject', 'replay-erasures', '--from', file);

it('erases again what a restored store has, closes what is open, and suppresses the phone; twice changes nothing', async () => {
  const [open] = (await register(key, [
    applicant(PERSON),
    applicant({ phone: toPhone('+573004440002'), ...REJECTED }),
  ])) as [number];
  await save();
  await json('subject', 'erase', '--phone', PERSON.phone, '--reason', 'x', '--close', '--yes');
  const list = await json('subject', 'erasures');
  assert.deepEqual(
    list[0].applications.map(({ id }: { id: number }) => id),
    [open],
  );
  writeFileSync(file, JSON.stringify(list));
  await restore();
  assert.notDeepEqual(await tablesWith(store, TRACES), []);
  assert.deepEqual(await replay(), { erasures: 1, applications: 1, unknown_phones: 0 });
  assert.deepEqual(await tablesWith(store, TRACES), []);
  assert.deepEqual(await tablesWith(store, [toBigint(phoneIndexOf(vault, PERSON.phone))]), [
    'erased_phones',
    'suppressions',
  ]);
  assert.equal((await json('application', 'show', `${open}`)).status, 'rejected');
  assert.deepEqual(await replay(), { erasures: 1, applications: 0, unknown_phones: 0 });
  assert.deepEqual(await json('subject', 'erasures'), list);
  await assertInvariants(store);
});

it('another batch that has got the same number since stays', async () => {
  const list = await json('subject', 'erasures');
  const [stays] = (await register(key, [applicant({ ...PERSON, ...REJECTED })])) as [number];
  list[0].applications[0].id = stays;
  writeFileSync(file, JSON.stringify(list));
  assert.deepEqual(await replay(), { erasures: 1, applications: 0, unknown_phones: 0 });
  assert.equal((await json('application', 'list', '--phone', PERSON.phone)).length, 1);
});

const isSuppressed = async (phone: string) =>
  (
    await database.query('SELECT active FROM suppressions WHERE phone_index = $1', [
      toBigint(phoneIndexOf(vault, toPhone(phone))),
    ])
  ).rows[0]?.active;

it('suppresses a person who was registered after the moment of the backup and erased since', async () => {
  await save();
  const phone = toPhone('+573004440003');
  await register(key, [applicant({ phone, ...REJECTED })]);
  await json('subject', 'erase', '--phone', phone, '--reason', 'x', '--yes');
  const list = await json('subject', 'erasures');
  writeFileSync(file, JSON.stringify(list));
  await restore();
  assert.equal(await isSuppressed(phone), undefined);
  assert.equal((await replay()).applications, 0);
  assert.equal(await isSuppressed(phone), true);
  assert.deepEqual(await json('subject', 'erasures'), list);
  // The store knows the erasure now: what was lifted since stays lifted.
  await json('suppression', 'remove', phone);
  await replay();
  assert.equal(await isSuppressed(phone), false);
});

it('knows a person of whom only traces of messages were left', async () => {
  const phone = toPhone('+573004440004');
  await database.query(
    `INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES ($1, now(), 1, 1, false)`,
    [toBigint(phoneIndexOf(vault, phone))],
  );
  await json('subject', 'erase', '--phone', phone, '--reason', 'x', '--yes');
  const list = await json('subject', 'erasures');
  assert.deepEqual(list.at(-1).applications, []);
  await database.query('TRUNCATE erasures, erased_phones, suppressions');
  writeFileSync(file, JSON.stringify(list.slice(-1)));
  await replay();
  assert.equal(await isSuppressed(phone), true);
});

it('an erasure of an older index key is done under the newer one; one of a key that is not known is told', async () => {
  const list = (await json('subject', 'erasures')).slice(-1);
  const newer = new Vault({ ...TEST_SECRETS, newerIndexKeys: [Buffer.alloc(32, 8)] });
  const [erasure] = list.map(readErasure);
  assert.deepEqual(phonesInStore(newer, erasure), [toBigint(phoneIndexOf(newer, toPhone('+573004440004')))]);
  writeFileSync(file, JSON.stringify([{ ...list[0], index_key: newer.indexKeyId }]));
  const { code, err, out } = await run('subject', 'replay-erasures', '--from', file, '--json');
  assert.deepEqual([code, JSON.parse(out).unknown_phones], [1, 1]);
  assert.match(err, /^1 phone of an erased person is not suppressed again/);
});

it('a list that is none is refused, and nothing is erased', async () => {
  const id = '01890000-0000-7000-8000-000000000001';
  for (const text of [
    '',
    '{}',
    '[1]',
    '[{"id":"x"}]',
    `[{"id":"${id}","at":"2026-01-01","applications":[]}]`,
    `[{"id":"${id}","at":"2026-01-01","applications":[{"id":1}],"index_key":"${vault.indexKeyId}","phones":[]}]`,
    `[{"id":"${id}","at":"2026-01-01","applications":[],"index_key":"${vault.indexKeyId}","phones":[1]}]`,
  ]) {
    writeFileSync(file, text);
    const { code, err } = await run('subject', 'replay-erasures', '--from', file);
    assert.equal(code, 1, text);
    assert.match(err, /cannot be read|list/);
  }
});
