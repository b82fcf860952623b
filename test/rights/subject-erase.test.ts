/** `subject erase`: afterwards nothing of the person is in the store but amounts, scores and a suppression. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import {
  channelIndexOf,
  channelUserIndexOf,
  idNumberIndexOf,
  phoneIndexOf,
  toBigint,
} from '../../src/seal/blind-indexes.ts';
import { refuseDataKey } from '../../src/seal/data-keys.ts';
import { fillLookUpBuckets } from '../../src/subjects/applications/sql/partitions.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants, tablesWith, wholeStore } from '../support/erased.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { closePartition } from '../support/old-partitions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const register = await registrarOf(store);
const { id: acme } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: other } = await json('partner', 'add', '--name', 'Other', '--country', 'MX');
const keys: number[] = [];
for (const partner of [acme, other]) keys.push((await json('key', 'issue', '--partner', `${partner}`)).id);
const [key, otherKey] = keys as [number, number];
const WHY = ['--reason', 'ticket 1'];

/** A person with a phone, an ID number and a name of their own. */
function aPerson(n: number) {
  const phone = toPhone(`+57300777${String(n).padStart(4, '0')}`);
  return { name: `Persona Unica${n}`, id_number: `90${n}77${n}`, city: `Pueblo${n}`, phone };
}
type Person = ReturnType<typeof aPerson>;
/** All that leads to the person, but the index of the phone. */
const tracesOf = ({ name, id_number, city, phone }: Person) => [
  ...[name, id_number, city, phone, phone.slice(1)],
  toBigint(idNumberIndexOf(vault, id_number)),
];
const phoneTrace = ({ phone }: Person) => toBigint(phoneIndexOf(vault, phone));

it('takes everything of the person out of every table and every envelope, over all partners', async () => {
  const [one, mate] = [aPerson(1), aPerson(2)];
  const [rejected, beside] = (await register(key, [
    applicant({ ...one, ...REJECTED }),
    applicant({ ...mate, ...REJECTED }),
  ])) as [number, number];
  await closePartition(database);
  const [open] = (await register(otherKey, [applicant({ ...one, ...IN_REVIEW })])) as [number];
  // A duplicate of the person: refused, but in the envelope of its batch until that is trimmed.
  const [refused, third] = await register(key, [applicant(one), applicant({ ...mate, ...REJECTED })]);
  assert.equal(refused, 0);
  const channelIndex = channelIndexOf(vault, 'wamid.person');
  await setMessages(database, [rejected], { status: 'delivered', channelMessageId: channelIndex });
  await json('application', 'approve', `${open}`, '--reason', 'fine');
  // The record of acts keeps the operator's own text; the history does not.
  await database.query('UPDATE application_events SET reason = $1', [`papers of ${one.name}`]);
  const user = toBigint(channelUserIndexOf(vault, 'user.person'));
  const phone = phoneTrace(one);
  await database.query('INSERT INTO channel_users (user_index, phone_index, heard_ms) VALUES ($1, $2, 0)', [
    user,
    phone,
  ]);
  await database.query(
    'INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES ($1, now(), $2, 1, true)',
    [phone, rejected],
  );
  await database.query(
    "INSERT INTO early_events (channel_message_id, status, at, user_index, came_ms) VALUES ($1, 'read', now(), NULL, 0), (1, 'read', now(), $2, 0)",
    [toBigint(channelIndex), user],
  );
  const traces = [...tracesOf(one), user, toBigint(channelIndex)];
  const before = await tablesWith(store, [...traces, phone]);
  for (const table of [
    'envelopes',
    'look_up_buckets',
    'open_phones',
    'recipients',
    'channel_users',
    'early_events',
    'waiting_rejections',
    'application_events',
  ])
    assert.ok(before.includes(table), `the test plants nothing in ${table}`);
  const scores = () =>
    database.query('SELECT id, score, income, debt_amount, decision, platform FROM applications ORDER BY id');
  const scored = (await scores()).rows;

  const done = await json('subject', 'erase', '--phone', one.phone, ...WHY, '--close', '--yes');
  assert.deepEqual(done, {
    ...{
      erased: true,
      applications: [rejected, open],
      spellings: 1,
      closed: [open],
      kept_contracts: [],
      unopened_batches: [],
    },
    partners: ['Other', 'Acme'],
  });
  assert.deepEqual(await tablesWith(store, traces), []);
  assert.deepEqual(await tablesWith(store, [phone]), ['erased_phones', 'suppressions']);
  assert.deepEqual((await scores()).rows, scored, 'amounts and scores stay');
  const { rows: leftMessages } = await database.query(
    'SELECT message_id FROM messages WHERE application_id = ANY ($1)',
    [[rejected, open]],
  );
  assert.deepEqual(leftMessages, []);
  for (const id of [beside, third]) {
    const shown = await json('application', 'show', `${id}`, '--reveal', ...WHY);
    assert.deepEqual([shown.name, shown.phone, shown.fault], [mate.name, mate.phone, null]);
  }
  const closed = await json('application', 'show', `${open}`);
  assert.deepEqual(
    [closed.status, closed.name, closed.id_number, closed.phone],
    ['rejected', null, null, null],
  );
  const events = await json('event', 'list', '--partner', `${other}`);
  assert.deepEqual([events[0].to, events[0].reason_code], ['rejected', 'data_erased']);
  for (const option of [
    ['--phone', one.phone],
    ['--id-number', one.id_number],
  ])
    assert.deepEqual(await json('application', 'list', ...option), []);
  await assertInvariants(store);
  const [act] = (await json('audit', 'list')).filter(({ act }: { act: string }) => act === 'subject erase');
  assert.deepEqual(
    [act.act, act.target, act.reason],
    ['subject erase', `applications ${rejected}, ${open}`, 'ticket 1'],
  );
});

it('nobody writes to the person again, and the phone may register again', async () => {
  const one = aPerson(1);
  const [again] = (await register(key, [applicant(one)])) as [number];
  assert.ok(again > 0, 'the phone is free');
  assert.equal((await json('suppression', 'list')).length, 1);
  await json('subject', 'erase', '--id-number', one.id_number, ...WHY, '--close', '--yes');
  assert.deepEqual(await tablesWith(store, tracesOf(one)), []);
});

it('a segment that is put into buckets afterwards has nothing of the person', async () => {
  const [one, mate] = [aPerson(3), aPerson(4)];
  const [, stays] = await register(key, [
    applicant({ ...one, ...REJECTED }),
    applicant({ ...mate, ...REJECTED }),
  ]);
  await json('subject', 'erase', '--phone', one.phone, ...WHY, '--yes');
  await closePartition(database);
  await fillLookUpBuckets(database);
  assert.deepEqual(await tablesWith(store, [...tracesOf(one)]), []);
  const found = await json('application', 'list', '--phone', mate.phone);
  assert.deepEqual(
    found.map(({ id }: { id: number }) => id),
    [stays],
  );
  assert.doesNotMatch((await wholeStore(store)).get('look_up_buckets') ?? '', /[{,]0[,}]"?,"?\{/);
});

it('a batch whose applicants are all erased has no envelope', async () => {
  const one = aPerson(5);
  const [id] = (await register(key, [applicant({ ...one, ...REJECTED })])) as [number];
  await json('subject', 'erase', '--phone', one.phone, ...WHY, '--yes');
  const { rows } = await database.query('SELECT envelope FROM batches WHERE id = batch_of($1)', [id]);
  assert.deepEqual(rows, [{ envelope: null }]);
  assert.equal((await json('application', 'show', `${id}`, '--reveal', ...WHY)).fault, null);
});

it('an open application is refused without --close, and nothing is erased', async () => {
  const one = aPerson(6);
  const [id, second] = (await register(key, [
    applicant({ ...one, phone: toPhone('+573007770061'), ...REJECTED }),
    applicant(one),
  ])) as [number, number];
  const before = await wholeStore(store);
  const { code, err } = await run('subject', 'erase', '--id-number', one.id_number, ...WHY, '--yes');
  assert.equal(code, 1);
  assert.match(err, new RegExp(`open applications are not erased \\(${second}\\).*--close`));
  assert.deepEqual(await wholeStore(store), before);
  const done = await json('subject', 'erase', '--id-number', one.id_number, ...WHY, '--yes', '--close');
  assert.deepEqual(done.applications.toSorted(), [id, second]);
  // The person's phones are suppressed, also where the ID number named the person.
  assert.deepEqual(
    await tablesWith(store, [phoneTrace(one), toBigint(phoneIndexOf(vault, toPhone('+573007770061')))]),
    ['erased_phones', 'suppressions'],
  );
});

it('without --yes it tells what it would erase, and changes nothing', async () => {
  const one = aPerson(7);
  const [id] = (await register(key, [applicant(one)])) as [number];
  const before = await wholeStore(store);
  const { out } = await run('subject', 'erase', '--phone', one.phone, ...WHY);
  assert.match(out, new RegExp(`application ${id} of Acme, pending_signature[^]*Open: ${id}[^]*--yes`));
  assert.deepEqual(await json('subject', 'erase', '--phone', one.phone, ...WHY), {
    ...{ erased: false, applications: [id], spellings: 1, open: [id], partners: ['Acme'] },
  });
  assert.deepEqual(await wholeStore(store), before);
});

it('where the answer of the commit was lost, it can be called again: nothing is left, and it is recorded once', async () => {
  const one = aPerson(7);
  const args = ['subject', 'erase', '--phone', one.phone, ...WHY, '--yes', '--close'];
  await json(...args);
  const before = await wholeStore(store);
  assert.deepEqual((await json(...args)).applications, []);
  assert.match((await run(...args)).out, /Nothing of this person is stored/);
  assert.deepEqual(await wholeStore(store), before);
});

it('a damaged application counts as open, and its indexes go; an envelope that does not open stays and is told', async () => {
  const [one, mate] = [aPerson(8), aPerson(9)];
  const [id] = (await register(key, [applicant(one), applicant({ ...mate, ...REJECTED })])) as [number];
  await database.query(
    "UPDATE batches SET facts = '', envelope = set_byte(envelope, 40, get_byte(envelope, 40) # 1) WHERE id = batch_of($1)",
    [id],
  );
  assert.match((await run('subject', 'erase', '--phone', one.phone, ...WHY, '--yes')).err, /--close/);
  const { code, out } = await run('subject', 'erase', '--phone', one.phone, ...WHY, '--yes', '--close');
  assert.equal(code, 1);
  assert.match(out, new RegExp(`of batch ${Math.floor(id / 128)} do not open`));
  await database.query('UPDATE batches SET envelope = NULL WHERE id = batch_of($1)', [id]);
  assert.deepEqual(await tablesWith(store, tracesOf(one)), []);
});

it('is refused where the envelope needs a data key that the command lacks', async () => {
  const one = aPerson(10);
  const [id] = (await register(key, [applicant({ ...one, ...REJECTED })])) as [number];
  await database.query(
    "UPDATE batches SET envelope = overlay(envelope PLACING '\\x07'::bytea FROM 1) WHERE id = batch_of($1)",
    [id],
  );
  const { code, err } = await run('subject', 'erase', '--phone', one.phone, ...WHY, '--yes');
  assert.deepEqual([code, /set DATA_KEYS/.test(err)], [1, true], err);
  await database.query('UPDATE batches SET envelope = NULL WHERE id = batch_of($1)', [id]);
});

it('is refused where the command seals with a retired data key: nobody could read who stays in the batch', async () => {
  const [one, mate] = [aPerson(11), aPerson(12)];
  await register(key, [applicant({ ...one, ...REJECTED }), applicant({ ...mate, ...REJECTED })]);
  const { id } = vault.sealingKey;
  await refuseDataKey(database, id, true);
  try {
    const before = await wholeStore(store);
    const { code, err } = await run('subject', 'erase', '--phone', one.phone, ...WHY, '--yes');
    assert.deepEqual([code, err.includes(`data key ${id} is retired`)], [1, true], err);
    assert.deepEqual(await wholeStore(store), before);
  } finally {
    await refuseDataKey(database, id, false);
  }
  assert.equal(
    (await json('subject', 'erase', '--phone', one.phone, ...WHY, '--yes')).applications.length,
    1,
  );
});

it('is a wrong use without a reason, without a name of the person and with two', async () => {
  for (const args of [['--phone', '+573007770001'], [...WHY], ['--phone', '1', '--id-number', '2', ...WHY]])
    assert.equal((await run('subject', 'erase', ...args)).code, 2);
});

it('a session on a worker of Citus is told to go to the coordinator, and erases nothing', async () => {
  const phone = toPhone('+573009990001');
  const [id] = await register(key, [applicant({ phone, ...REJECTED })]);
  // What is_worker() looks at.
  await store.database.query('ALTER SEQUENCE batch_numbers RENAME TO elsewhere');
  try {
    const { code, err } = await run('subject', 'erase', '--phone', phone, '--reason', 'x', '--yes');
    assert.equal(code, 1);
    assert.match(
      err,
      /^error: DATABASE_URL leads to a worker of Citus, and an erasure needs the coordinator/,
    );
  } finally {
    await store.database.query('ALTER SEQUENCE elsewhere RENAME TO batch_numbers');
  }
  assert.equal((await json('application', 'show', `${id}`)).id, id);
  assert.equal((await json('application', 'list', '--phone', phone)).length, 1);
});
