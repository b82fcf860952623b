/** RETENTION_DAYS: old applications are deleted by the partition, and nothing of them stays. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { fillLookUpBuckets, forgetPartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { recordInterest } from '../../src/subjects/messages/sql/interest.ts';
import { countMessages } from '../../src/subjects/messages/sql/message-counts.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { isLockTimeout, whileLocked } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { closePartition as closeLast, growOlder } from '../support/old-partitions.ts';
import { messageOf } from '../support/reviewed.ts';
import { shifted } from '../support/shifted.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);

const DAYS = 30;
const DAY_MS = 24 * 3_600_000;

const closePartition = () => closeLast(database);

/** Kept partitions are looked at again. */
async function aDayLater(): Promise<void> {
  await database.query('UPDATE closed_segments SET kept_ms = kept_ms - $1', [DAY_MS]);
}

/** Closes the last application, and makes its partition old. */
async function ageTheLast(): Promise<number> {
  const id = (await applications()).at(-1) as number;
  await json('application', 'reject', `${id}`, '--reason', 'over');
  await closePartition();
  await growOlder(database, DAYS + 1);
  return id;
}

/** Resolves when a session waits for another one, or `work` is done. */
async function isWaiting(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  await eventually('a wait', async () => isDone || (await waitingSessions(database)).length > 0);
}

/** A busy machine may let the lock go after the last try of the deletion: then the upkeep comes again. */
const orAgain = (forgetting: Promise<number>) =>
  forgetting.catch((error: unknown) => {
    isLockTimeout(error);
    return forgetPartitions(database, machineClock, DAYS);
  });

const applications = async (): Promise<number[]> =>
  (await database.query('SELECT id::float8 FROM applications ORDER BY id')).rows.map(({ id }) => id);

it('D39: applications are deleted when they are old by clock and elapsed time', async () => {
  const [open, final] = (await register(key, [
    applicant({ phone: toPhone('+573001110001') }),
    applicant({ phone: toPhone('+573001110002'), ...REJECTED }),
  ])) as [number, number];
  await closePartition();
  const [blocked] = (await register(key, [applicant({ phone: toPhone('+573001110003') })])) as [number];
  await closePartition();
  const [fresh] = (await register(key, [applicant({ phone: toPhone('+573001110004') })])) as [number];
  const all = [open, final, blocked, fresh];
  const forget = () => forgetPartitions(database, machineClock, DAYS);
  const phoneIndex = phoneIndexOf(store.vault, toPhone('+573001110002'));
  const tap = { applicationId: toApplicationId(final), phoneIndex, contextIndex: null, at: new Date() };
  assert.equal(
    await recordInterest(database, [tap]),
    1,
    'a tap of who was rejected opens and closes nothing',
  );

  assert.equal(await forget(), 0, 'nothing is old');
  await database.query('UPDATE closed_segments SET closed_ms = closed_ms - $1', [(DAYS + 1) * DAY_MS]);
  assert.equal(await forget(), 0, 'the clock says that it is not old');
  await database.query(`UPDATE batches SET created_at = ${shifted('created_at', "interval '-31 days'")}`);
  await database.query('UPDATE closed_segments SET closed_ms = closed_ms + $1', [(DAYS + 1) * DAY_MS]);
  assert.equal(await forget(), 0, 'so much time has not passed for certain');
  await database.query('UPDATE closed_segments SET closed_ms = closed_ms - $1', [(DAYS + 1) * DAY_MS]);
  assert.equal(await forget(), 0, 'the owner has seen it closed a moment ago');
  await database.query(
    `UPDATE closed_segments SET closed_at = ${shifted('closed_at', "interval '-31 days'")}`,
  );
  assert.equal(await forget(), 1, 'one of each partition is open');
  assert.deepEqual(
    await applications(),
    all.filter((id) => id !== final),
  );

  await json('application', 'reject', `${open}`, '--reason', 'over');
  assert.equal(await forget(), 0, 'a kept partition is looked at once a day');
  await aDayLater();
  assert.equal(await forget(), 1);
  assert.deepEqual(await applications(), [blocked, fresh]);
  assert.equal((await run('application', 'show', `${open}`)).code, 1);
  assert.deepEqual(await json('application', 'list', '--phone', '+573001110001'), []);
  assert.deepEqual(await json('message', 'list', '--application', `${final}`), []);
  const { rows } = await database.query(`
    SELECT (SELECT count(*) FROM application_events)::int AS events, (SELECT count(*) FROM outbox)::int AS batches,
      (SELECT count(*) FROM messages)::int AS messages`);
  assert.deepEqual(rows[0], { events: 0, batches: 2, messages: 2 });
  assert.deepEqual(await countMessages(database), [{ status: 'queued', count: 2 }]);
  assert.deepEqual(
    (await json('application', 'list', '--phone', '+573001110003')).map(({ id }: { id: number }) => id),
    [blocked],
  );
  assert.equal(await forget(), 0);
});

it('a registration under way keeps its partition, and the next turn tries again', async () => {
  await json('application', 'reject', `${(await applications())[0]}`, '--reason', 'over');
  await aDayLater();
  await whileLocked(database, 'LOCK TABLE batches IN ROW EXCLUSIVE MODE', () =>
    assert.rejects(forgetPartitions(database, machineClock, DAYS), isLockTimeout),
  );
  assert.equal((await applications()).length, 2);
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 1);
});

it('a message that is being sent keeps its partition until its result is known', async () => {
  const id = await ageTheLast();
  await setMessages(database, [id], { status: 'sending', dueInMs: 0 });
  await assert.rejects(forgetPartitions(database, machineClock, DAYS), {
    message: /messages of the partition are being sent$/,
  });
  assert.equal(await findLost(database, 0), 1);
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 1);
  assert.equal(await findLost(database, 0), 0);
  assert.deepEqual(await countMessages(database), []);
});

it('D40: the messages after reviews are deleted with their application, unless one is being sent', async () => {
  await register(key, [applicant({ phone: toPhone('+573001110010') })]);
  const id = await ageTheLast();
  const after = messageOf(id, 'rejected');
  await setMessages(database, [after], { status: 'sending', dueInMs: 0 });
  await assert.rejects(forgetPartitions(database, machineClock, DAYS), {
    message: /messages of the partition are being sent$/,
  });
  assert.equal(await findLost(database, 0), 1);
  assert.deepEqual(await countMessages(database), [
    { status: 'uncertain', count: 1 },
    { status: 'cancelled', count: 1 },
  ]);
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 1);
  assert.deepEqual(await countMessages(database), []);
  assert.equal((await database.query('SELECT FROM waiting_messages')).rowCount, 0);
  assert.equal((await database.query('SELECT FROM messages')).rowCount, 0);
});

it('the deletion waits for a worker that holds messages and then reads their batches', async () => {
  await register(key, [applicant({ phone: toPhone('+573001110005') })]);
  await ageTheLast();
  const worker = await database.connect();
  await worker.query('BEGIN');
  await worker.query('LOCK TABLE message_records IN ROW SHARE MODE');
  const forgetting = forgetPartitions(database, machineClock, DAYS);
  await isWaiting(forgetting);
  await worker.query('SELECT FROM batches LIMIT 1; COMMIT');
  worker.release();
  assert.equal(await orAgain(forgetting), 1);
});

it('a session that looks for closed partitions does not list a deleted one again', async () => {
  await register(key, [applicant({ phone: toPhone('+573001110006') })]);
  await ageTheLast();
  const other = await database.connect();
  await other.query('BEGIN');
  await other.query('SELECT forget_partition($1)', [DAYS]);
  const filling = fillLookUpBuckets(database);
  await isWaiting(filling);
  await other.query('COMMIT');
  other.release();
  await filling;
  const { rows } = await database.query(
    "SELECT ends_at FROM closed_segments WHERE to_regclass('batches_to_' || ends_at) IS NULL",
  );
  assert.deepEqual(rows, []);
});

it('a record that changes until the partition is deleted is counted once, and leaves no waiting message', async () => {
  const [id] = (await register(key, [applicant({ phone: toPhone('+573001110007') })])) as [number];
  await ageTheLast();
  await setMessages(database, [id], { status: 'accepted' });
  const before = await countMessages(database);
  const session = await database.connect();
  await session.query('BEGIN');
  await session.query("UPDATE message_records SET status = 'failed' WHERE message_id = $1", [id]);
  const forgetting = forgetPartitions(database, machineClock, DAYS);
  await isWaiting(forgetting);
  await session.query('COMMIT');
  session.release();
  assert.equal(await orAgain(forgetting), 1);
  assert.deepEqual(before, [
    // The message after the review that ended the application.
    { status: 'queued', count: 1 },
    { status: 'accepted', count: 1 },
  ]);
  assert.deepEqual(await countMessages(database), []);
  assert.equal((await database.query('SELECT FROM waiting_messages')).rowCount, 0);
});

it('a batch whose facts cannot be read keeps only its own partition, and is named', async () => {
  const damaged = (await register(key, [applicant({ phone: toPhone('+573001110008') })]))[0] as number;
  await ageTheLast();
  await register(key, [applicant({ phone: toPhone('+573001110009') })]);
  await ageTheLast();
  await database.query("UPDATE batches SET facts = '' WHERE id = $1::bigint >> 7", [damaged]);
  await database.query('DELETE FROM application_states WHERE application_id = $1', [damaged]);
  const named: string[] = [];
  assert.equal(
    await forgetPartitions(database, machineClock, DAYS, (batchIds) => named.push(...batchIds)),
    1,
  );
  assert.deepEqual(named, [String(Math.floor(damaged / 128))]);
  assert.deepEqual(await applications(), [damaged]);
});

it('each kept partition is looked at in a transaction of its own, so that what was looked at stays known', async () => {
  await database.query('UPDATE closed_segments SET kept_ms = NULL');
  for (const phone of ['+573001110011', '+573001110012']) {
    await register(key, [applicant({ phone: toPhone(phone) })]);
    await closePartition();
  }
  await growOlder(database, DAYS + 1);
  const looks = async () =>
    (await database.query('SELECT count(kept_ms)::int AS count FROM closed_segments')).rows[0].count;
  const before = await looks();
  await database.query('SELECT forget_partition($1)', [DAYS]);
  assert.equal(await looks(), before + 1);
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 0);
  assert.ok((await looks()) >= before + 2);
});

const TRAP = [
  `CREATE FUNCTION refuse_locked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM pg_locks l WHERE l.pid = pg_backend_pid() AND l.relation = 'batches'::regclass
      AND l.mode = 'AccessExclusiveLock') THEN RAISE EXCEPTION 'buckets are filled under the lock on batches'; END IF;
    RETURN NULL; END $$`,
  'CREATE TRIGGER refuse_locked AFTER INSERT ON look_up_buckets FOR EACH STATEMENT EXECUTE FUNCTION refuse_locked()',
];

it('one open application does not keep the others of its partition: nor of its batch, and everything about it stays', async () => {
  await database.query('UPDATE closed_segments SET kept_ms = NULL');
  const phones = Array.from({ length: 6 }, (_, index) => toPhone(`+57300222000${index}`));
  const [first, second, open, beside, fourth, reviewed] = [
    ...(await register(key, [applicant({ phone: phones[0]!, ...REJECTED })])),
    ...(await register(key, [applicant({ phone: phones[1]!, ...REJECTED })])),
    ...(await register(key, [
      applicant({ phone: phones[2]! }),
      applicant({ phone: phones[3]!, ...REJECTED }),
    ])),
    ...(await register(key, [applicant({ phone: phones[4]!, ...REJECTED })])),
    ...(await register(key, [applicant({ phone: phones[5]! })])),
  ] as [number, number, number, number, number, number];
  await setMessages(database, [first, open, fourth], { status: 'failed' });
  await setMessages(database, [second], { status: 'accepted' });
  await json('application', 'reject', `${reviewed}`, '--reason', 'over');
  await closePartition();
  await growOlder(database, DAYS + 1);

  const counted = async () => {
    const { rows } = await database.query(
      'SELECT status, count(*)::int AS count FROM messages GROUP BY status ORDER BY status',
    );
    return rows;
  };
  // Registrations would wait for it. A worker of Citus makes no triggers.
  const isTrapped = !(await database.query('SELECT is_worker() AS yes')).rows[0].yes;
  if (isTrapped) for (const statement of TRAP) await database.query(statement);
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 5);
  if (isTrapped) await database.query('DROP FUNCTION refuse_locked CASCADE');
  assert.deepEqual((await applications()).slice(-1), [open]);
  assert.deepEqual(await countMessages(database), await counted());
  const waiting = await database.query(
    `
    SELECT message_id::float8 AS id FROM waiting_messages WHERE application_of_message(message_id) >= $1`,
    [first],
  );
  assert.deepEqual(
    waiting.rows.map(({ id }) => id),
    [open],
  );
  for (const [phone, ids] of [
    [phones[0], []],
    [phones[2], [open]],
    [phones[3], []],
  ] as const) {
    const found = await json('application', 'list', '--phone', phone as string);
    assert.deepEqual(
      found.map(({ id }: { id: number }) => id),
      ids,
    );
  }
  assert.equal((await run('application', 'show', `${beside}`)).code, 1);
  assert.deepEqual(await register(key, [applicant({ phone: phones[2]! })]), [0], 'the phone is held');
  await json('message', 'retry', `${open}`);
  await json('application', 'reject', `${open}`, '--reason', 'over');
  assert.equal((await json('application', 'show', `${open}`)).status, 'rejected');
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 0, 'looked at once a day');
  await aDayLater();
  assert.equal(await forgetPartitions(database, machineClock, DAYS), 1);
  assert.equal((await run('application', 'show', `${open}`)).code, 1);
  assert.deepEqual(await countMessages(database), await counted());
});
