/** RETENTION_DAYS where applications are open: they are copied, while the partition is in use, and the others go. */
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { toApplicationId, toBatchId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { forgetPartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { readEnvelope } from '../../src/subjects/applications/sql/read-envelopes.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { recordInterest } from '../../src/subjects/messages/sql/interest.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { assertInStep, setMessages } from '../support/messages.ts';
import { closePartition, growOlder, lookedAtBefore } from '../support/old-partitions.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);

const DAYS = 30;
let phones = 0;
const lastPhone = () => toPhone(`+5730077${String(phones).padStart(5, '0')}`);
const phone = () => {
  phones += 1;
  return lastPhone();
};
const open = () => applicant({ phone: phone() });
const closed = () => applicant({ phone: phone(), ...REJECTED });
const forget = () => forgetPartitions(database, machineClock, DAYS);
const reject = (id: number) => json('application', 'reject', `${id}`, '--reason', 'over');
const statusOf = async (id: number) =>
  (await database.query('SELECT status FROM messages_of(ARRAY[$1::bigint])', [id])).rows[0]?.status;
const applications = async (): Promise<number[]> =>
  (await database.query('SELECT id::float8 FROM applications ORDER BY id')).rows.map(({ id }) => id);

async function makeOld(): Promise<void> {
  await closePartition(database);
  await growOlder(database, DAYS + 1);
}

/** Nothing is open any more, so that a test begins with an empty store. */
beforeEach(async () => {
  await database.query('DROP TABLE IF EXISTS may_go_on');
  await database.query('DROP FUNCTION IF EXISTS hold_copy CASCADE');
  await database.query('DROP SEQUENCE IF EXISTS copy_writes');
  for (const { id } of (
    await database.query("SELECT id FROM applications WHERE status IN ('pending_signature', 'in_review')")
  ).rows)
    await reject(id);
  await findLost(database, 0);
  await makeOld();
  await lookedAtBefore(database, 31);
  await forget();
  assert.deepEqual(await applications(), []);
});

/** Holds the copy where it first writes into a table: of look-ups, after the rows are copied. */
async function holdCopy(
  table: 'look_up_buckets' | 'message_counts' = 'look_up_buckets',
): Promise<{ held(): Promise<number>; goOn(): Promise<void>; writes(): Promise<number> }> {
  // A sequence also counts what is undone.
  await database.query('CREATE SEQUENCE copy_writes');
  // One by one: Citus sends each to the other machines, and takes no two in one query.
  await database.query('CREATE TABLE may_go_on (yes boolean)');
  await database.query(`
    CREATE FUNCTION hold_copy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF current_query() NOT LIKE '%forget_partition%' THEN RETURN NULL; END IF;
      PERFORM nextval('copy_writes');
      FOR i IN 1..3000 LOOP
        EXIT WHEN EXISTS (SELECT FROM may_go_on);
        PERFORM pg_sleep(0.02);
      END LOOP;
      RETURN NULL; END $$`);
  await database.query(
    `CREATE TRIGGER hold_copy AFTER INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION hold_copy()`,
  );
  const HELD = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`;
  return {
    held: () =>
      eventually('the copy', async () => (await database.query(HELD)).rows[0]?.pid as number | undefined),
    goOn: async () => void (await database.query('INSERT INTO may_go_on VALUES (true)')),
    writes: async () =>
      (await database.query('SELECT last_value::integer AS writes FROM copy_writes')).rows[0].writes,
  };
}

it('a partition is read, claimed and written while it is copied, and what was written is there afterwards', async () => {
  const [gone, deferred, untouched, sent, late] = (await register(key, [
    closed(),
    open(),
    open(),
    open(),
    open(),
  ])) as [number, number, number, number, number];
  await setMessages(database, [deferred], { status: 'queued', dueInMs: -1_000 });
  await setMessages(database, [sent, late], { status: 'sent' });
  await setMessages(database, [gone], { status: 'sent' });
  await makeOld();
  const { held, goOn } = await holdCopy();
  const forgetting = forget();
  await held();

  assert.equal((await json('application', 'show', `${deferred}`)).id, deferred);
  const claimed: string[] = [];
  const send = async (message: { messageId: string }) => {
    claimed.push(message.messageId);
    return { kind: 'accepted', channelMessageId: `wamid.${message.messageId}` } as const;
  };
  const turn = await deliverDue(deliveryContext(store, { send }), new AbortController().signal);
  await turn.concluded;
  assert.deepEqual(claimed.map(Number).toSorted(), [deferred, untouched].toSorted());
  await setMessages(database, [sent], { status: 'read' });
  await setMessages(database, [gone], { status: 'delivered' });
  const tap = { applicationId: toApplicationId(late), phoneIndex: null, contextIndex: null, at: new Date() };
  const phoneIndex = phoneIndexOf(vault, lastPhone());
  assert.equal(await recordInterest(database, [{ ...tap, phoneIndex }]), 1);

  await goOn();
  assert.equal(await forgetting, 1);
  assert.deepEqual(await applications(), [deferred, untouched, sent, late]);
  assert.deepEqual(await Promise.all([gone, deferred, untouched, sent, late].map(statusOf)), [
    undefined,
    'accepted',
    'accepted',
    'read',
    'sent',
  ]);
  await assertInStep(database);
});

it('a copy that ends with an error or its session is made again, and leaves nothing behind', async () => {
  const [, kept] = (await register(key, [closed(), open()])) as [number, number];
  await makeOld();
  const before = await applications();
  const { held, goOn } = await holdCopy();
  // Expected from the beginning: the error may come before the answer to whoever ends the session.
  const ended = assert.rejects(forget(), { code: '57P01' });
  await database.query('SELECT pg_terminate_backend($1::integer)', [await held()]);
  await ended;
  assert.deepEqual(await applications(), before);
  await assertInStep(database);
  await goOn();
  assert.equal(await forget(), 1);
  assert.deepEqual(await applications(), [kept]);
  const { rows } = await database.query("SELECT relname FROM pg_class WHERE relname LIKE '%\\_kept%'");
  assert.deepEqual(
    rows.filter(({ relname }) => !/_pkey$|_idx\d*$/.test(relname)),
    [],
  );
});

it('a session that reads the partition for longer than a lock may take does not cost the copy', async () => {
  const [, kept] = (await register(key, [closed(), open()])) as [number, number];
  await makeOld();
  const reader = await database.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM batches WHERE id = $1::bigint >> 7', [kept]);
  const forgetting = forget();
  await reader.query('SELECT pg_sleep(0.8)');
  await reader.query('COMMIT');
  reader.release();
  assert.equal(await forgetting, 1);
});

// A cluster takes the statement that waits and the registration, both outside transactions, for one (docs/scale.md).
const asOne = store.isSpread
  ? 'a cluster may end one of the three as deadlocked, and the caller tries again'
  : false;
it('a session that waits while the copy takes its place costs it no second try; a registration does not wait', {
  skip: asOne,
}, async () => {
  const ids = (await register(key, [closed(), open()])) as [number, number];
  await setMessages(database, ids, { status: 'sent' });
  await makeOld();
  const { held, goOn, writes } = await holdCopy('message_counts');
  const forgetting = forget();
  await held();
  const event = database.query("SELECT FROM messages_of_channel('{5}')");
  await eventually('the event to wait', async () => (await waitingSessions(database)).length > 0);
  const [later] = (await register(key, [open()])) as [number];
  await goOn();
  assert.equal(await forgetting, 1);
  await event;
  // Once for the old records, and once for the new ones.
  assert.equal(await writes(), 2);
  assert.deepEqual(await applications(), [ids[1], later]);
  await assertInStep(database);
});

it('of a batch with an open application the others go, with their personal data', async () => {
  const [first, kept, last] = (await register(key, [closed(), open(), open()])) as [number, number, number];
  await reject(last);
  await setMessages(database, [first, kept], { status: 'delivered' });
  await makeOld();
  assert.equal(await forget(), 2);
  assert.deepEqual(await applications(), [kept]);
  assert.equal((await run('application', 'show', `${first}`)).code, 1);
  assert.equal((await json('application', 'show', `${kept}`)).status, 'pending_signature');
  const { rows: facts } = await database.query(
    'SELECT phones[1] IS NULL AND id_numbers[1] IS NULL AS gone, get_byte(facts, 0) AS score, surplus FROM batches',
  );
  assert.deepEqual(facts, [{ gone: true, score: 0, surplus: true }]);
  const { rows: left } = await database.query(`
    SELECT (SELECT count(*) FROM application_states)::int AS states, (SELECT count(*) FROM application_events)::int AS events,
      (SELECT count(*) FROM messages)::int AS messages`);
  assert.deepEqual(left, [{ states: 0, events: 0, messages: 1 }]);
  assert.deepEqual(await trimSurplus(database, vault, machineClock), []);
  const records = await readEnvelope(database, vault, toBatchId(Math.floor(kept / 128)));
  assert.deepEqual(Object.keys(records ?? {}), [`${kept % 128}`]);
  assert.equal((await database.query('SELECT FROM batches WHERE surplus')).rowCount, 0);
  await assertInStep(database);
});

it('a partition is written again at once, then where half of it goes, and otherwise in 30 days', async () => {
  const ids: number[] = [];
  for (const one of [closed(), open(), open(), open(), open()]) ids.push(...(await register(key, [one])));
  await makeOld();
  assert.equal(await forget(), 1, 'four of five are open');
  await reject(ids[1] as number);
  await lookedAtBefore(database, 1);
  assert.equal(await forget(), 0, 'one of four goes');
  await lookedAtBefore(database, 29);
  assert.equal(await forget(), 1, 'one of four goes after 30 days');
  await reject(ids[2] as number);
  await reject(ids[3] as number);
  await lookedAtBefore(database, 1);
  assert.equal(await forget(), 2, 'two of three go');
  assert.deepEqual(await applications(), [ids[4]]);
});
