/** `subject export`: everything about a person over all partners, and nothing of anybody else. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { Vault } from '../../src/seal/vault.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition } from '../support/old-partitions.ts';
import { queueReply } from '../support/replies.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const REASON = ['--reveal', '--reason', 'ticket 1'];
const PHONE = '+573001230001';

const { id: acme } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: other } = await json('partner', 'add', '--name', 'Other', '--country', 'CO');
const keys: number[] = [];
for (const partner of [acme, other]) keys.push((await json('key', 'issue', '--partner', `${partner}`)).id);
const register = await registrarOf(store);
const ANA = { name: 'Ana Uno', id_number: '1001', phone: toPhone(PHONE) };
const [first, stranger] = (await register(keys[0] as number, [
  applicant({ ...ANA, ...REJECTED }),
  applicant({ name: 'Eva Otra', id_number: '20020020', phone: toPhone('+573001230002') }),
])) as [number, number];
await closePartition(database);
const [second] = (await register(keys[1] as number, [applicant({ ...ANA, ...IN_REVIEW })])) as [number];
await json('application', 'approve', `${second}`, '--reason', 'fine');
await queueReply(store, { id: second, phone: ANA.phone }, 1, {
  ...{ text: '¿Seguimos, Ana?', buttons: [{ title: 'Sí', payload: 'c.1' }], readMessageId: null },
  document: { mediaId: '17', filename: 'contrato.pdf' },
});
const byPhone = () => json('subject', 'export', '--phone', PHONE, ...REASON);

it('has the applications of all partners with fields, points, messages and history, by phone and by ID number', async () => {
  const exported = await byPhone();
  assert.deepEqual(
    exported.applications.map((one: Record<string, unknown>) => [one.id, one.name, one.id_number, one.phone]),
    [second, first].map((id) => [id, ANA.name, ANA.id_number, PHONE]),
  );
  const [one, two] = exported.applications;
  assert.deepEqual([one.partner.name, two.partner.name], ['Other', 'Acme']);
  assert.deepEqual([one.holds_phone, two.holds_phone, one.receipt.outcome], [true, false, 'R']);
  assert.deepEqual(
    one.history.map(({ action }: { action: string }) => action),
    ['register', 'approve'],
  );
  assert.deepEqual(one.reply_texts, [
    { turn: 1, text: '¿Seguimos, Ana?', choices: ['Sí'], document: 'contrato.pdf' },
  ]);
  assert.deepEqual([exported.replies.length, exported.replies[0].turn], [1, 1]);
  assert.equal(one.messages.length, 2);
  assert.ok(one.points.payment_capacity >= 0);
  assert.deepEqual(
    exported.events.map((event: Record<string, unknown>) => [event.application_id, event.type]),
    [[second, 'application.status_changed']],
  );
  assert.match(exported.exported_at, /\+00:00$/);
  const again = await json('subject', 'export', '--id-number', ' 1001 ', ...REASON);
  assert.deepEqual(
    again.applications.map(({ id }: { id: number }) => id),
    [second, first],
  );
});

it('has nothing of anybody else, and no blind index', async () => {
  const text = JSON.stringify(await byPhone());
  for (const foreign of ['Eva', '20020020', '1230002', `"id":${stranger}`])
    assert.ok(!text.includes(foreign), foreign);
  assert.ok(!text.includes(toBigint(phoneIndexOf(vault, toPhone(PHONE)))));
});

it('has what is stored under the phone', async () => {
  const index = toBigint(phoneIndexOf(vault, toPhone(PHONE)));
  await json('suppression', 'add', PHONE);
  await database.query(
    'INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES ($1, now(), $2, 1, false)',
    [index, first],
  );
  await database.query('INSERT INTO channel_users (user_index, phone_index, heard_ms) VALUES (77, $1, 0)', [
    index,
  ]);
  await database.query(
    "INSERT INTO early_events (channel_message_id, status, at, user_index, came_ms) VALUES (5, 'read', now(), 77, 0)",
  );
  const exported = await byPhone();
  assert.equal(exported.suppressions[0].source, 'operator');
  assert.equal(exported.recipients[0].message_id, `${first}`);
  assert.equal(exported.channel_users.length, 1);
  assert.equal(exported.early_events[0].status, 'read');
});

it('of two phones with one blind index the other one is left out', async () => {
  const [asked, same] = ['+573001230005', '+573001230006'] as const;
  /** Its index of one phone is that of the other. */
  class Colliding extends Vault {
    override blindIndex(...[kind, text]: Parameters<Vault['blindIndex']>) {
      return super.blindIndex(kind, text === same ? asked : text);
    }
  }
  const both = { ...store, vault: new Colliding(TEST_SECRETS) };
  const [one, another] = (await (
    await registrarOf(both)
  )(keys[0] as number, [
    applicant({ phone: toPhone(asked), ...REJECTED }),
    applicant({ phone: toPhone(same), ...REJECTED }),
  ])) as [number, number];
  const ofPhone = async (phone: string) => {
    const { applications } = await commandLine(both).json('subject', 'export', '--phone', phone, ...REASON);
    return applications.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await ofPhone(asked), [one]);
  assert.deepEqual(await ofPhone(same), [another]);
});

it('is recorded by application before anything is printed, with the reason', async () => {
  const events = await json('audit', 'list', '--application', `${first}`);
  assert.deepEqual([events[0].act, events[0].reason], ['subject export', 'ticket 1']);
  await json('subject', 'export', '--phone', '+573009999999', ...REASON);
  const [newest] = await json('audit', 'list');
  assert.deepEqual([newest.act, newest.application_id], ['subject export', null]);
});

it('reads the phone and the ID number from standard input', async () => {
  for (const [option, line] of [
    ['--phone', PHONE],
    ['--id-number', '1001'],
  ] as const) {
    const { run: fed } = commandLine(store, {}, `${line}\n`);
    const { code, out } = await fed('subject', 'export', option, '-', ...REASON);
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).applications[0].id, second);
  }
});

it('is refused without a reason, without a name of the person and with two', async () => {
  for (const args of [
    ['--phone', PHONE],
    [...REASON],
    ['--phone', PHONE, '--id-number', '1001', ...REASON],
    ['--phone', PHONE, '--reveal'],
  ]) {
    const { code, out, err } = await run('subject', 'export', ...args);
    assert.deepEqual([code, out], [2, ''], err);
  }
  assert.equal((await run('subject', 'export', '--phone', '12', ...REASON)).code, 1);
  assert.equal((await run('subject', 'export', '--id-number', ' ', ...REASON)).code, 1);
});
