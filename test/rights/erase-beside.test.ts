/** An erasure beside what else works on the same person: one waits, or gives way, and nothing comes back. */
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { type Phone, toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { type Database, inOneTransaction } from '../../src/ground/postgres/database.ts';
import { idNumberIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { Vault } from '../../src/seal/vault.ts';
import { fillLookUpBuckets, forgetPartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { resealEnvelopes } from '../../src/subjects/applications/sql/reseal-envelopes.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import { isBeingSent } from '../../src/subjects/messages/sql/erasure.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { eraseApplications } from '../../src/subjects/rights/uses/erase-applications.ts';
import { eraseSubject } from '../../src/subjects/rights/uses/erase-subject.ts';
import { exportSubject } from '../../src/subjects/rights/uses/export-subject.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants, tablesWith } from '../support/erased.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { closePartition, growOlder } from '../support/old-partitions.ts';
import { NEW } from '../support/rotated-secrets.ts';
import { TestClock } from '../support/test-clock.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

/** How long a command tries again, and its rest between two tries. */
const [PATIENCE_MS, PAUSE_MS] = [10_000, 250];
const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const context = { database, vault, clock: machineClock, actor: 'ana' };

let people = 0;
let one = aPerson();
beforeEach(() => {
  one = aPerson();
});
function aPerson() {
  people += 1;
  const digits = String(people).padStart(4, '0');
  return { name: `Persona ${digits}X`, id_number: `88${digits}88`, phone: toPhone(`+57300888${digits}`) };
}
const tracesOf = (person: { name: string; id_number: string; phone: Phone }) => [
  ...[person.name, person.id_number, person.phone, toBigint(idNumberIndexOf(vault, person.id_number))],
];
const phoneOf = ({ phone }: { phone: Phone }) => toBigint(phoneIndexOf(vault, phone));
async function assertErased(person: typeof one): Promise<void> {
  assert.deepEqual(await tablesWith(store, tracesOf(person)), []);
  assert.deepEqual(await tablesWith(store, [phoneOf(person)]), ['erased_phones', 'suppressions']);
  await assertInvariants(store);
}

const erase = (ids: readonly number[], on: Database = database) =>
  eraseApplications({ ...context, database: on, clock: machineClock }, ids.map(toApplicationId), [], {
    close: true,
    nobodySends: false,
  });
const eraseByCommand = (person: typeof one) =>
  json('subject', 'erase', '--phone', person.phone, '--reason', 'x', '--close', '--yes');
const isLocked = { code: '55P03' };
/** As the command does: on a busy machine the other session may hold its lock for longer than an erasure waits. */
const eraseAtLast = (ids: readonly number[]) =>
  eventually('the lock of the other session', async () => {
    try {
      await erase(ids);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== isLocked.code) throw error;
      return false;
    }
  });

/** Runs `work` while an erasure of these applications is not committed yet, and resolves when both are over. */
async function besideErasure(
  ids: readonly number[],
  work: () => Promise<unknown>,
  waits: boolean,
): Promise<void> {
  let working: Promise<unknown> = Promise.resolve();
  await inOneTransaction(database, async (part) => {
    await erase(ids, part);
    working = work();
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    working.then(done, done);
    await eventually(
      'the work',
      async () => isDone || (waits && (await waitingSessions(database)).length > 0),
    );
  });
  await working;
}

it('registrations of the same phone at the same moment: what came is erased or came later, and nothing is in between', async () => {
  const work = Array.from({ length: 12 }, () =>
    register(key, [applicant(one), applicant({ ...one, ...REJECTED })]),
  );
  const erasures = [eraseByCommand(one), eraseByCommand(one)];
  await Promise.all(work);
  await Promise.allSettled(erasures);
  await assertInvariants(store);
  await eraseByCommand(one);
  await assertErased(one);
});

for (const isBefore of [true, false]) {
  const when = isBefore
    ? 'after the export found the applications'
    : 'while the export reads the applications';
  it(`an erasure ${when}: each one is shown as before the erasure or as after it, without a fault`, async () => {
    const ids = await register(
      key,
      Array.from({ length: 6 }, () => applicant({ ...one, ...REJECTED })),
    );
    let erasing: Promise<unknown> = Promise.resolve();
    const exported = await exportSubject(context, { phone: one.phone }, async (found) => {
      assert.deepEqual(found.toSorted(), ids.toSorted());
      // The applications are read after this.
      erasing = eraseByCommand(one);
      if (isBefore) await erasing;
    });
    await erasing;
    assert.equal(exported.applications.length, ids.length);
    for (const { application } of exported.applications) {
      const { fields, fault } = application;
      assert.equal(fault, null);
      assert.ok([`${one.name} ${one.phone}`, 'null null'].includes(`${fields.name} ${fields.phone}`));
    }
    const after = await exportSubject(context, { phone: one.phone }, async () => {});
    assert.deepEqual([after.applications, after.events], [[], []]);
    assert.equal(after.phones.suppressions?.length, 1);
    await assertErased(one);
  });
}

it('a message that is being sent: the erasure gives way, and goes through when its result is recorded', async () => {
  const [id] = (await register(key, [applicant(one)])) as [number];
  await database.query('SELECT make_messages($1)', [[id]]);
  await setMessages(database, [id], { status: 'sending', dueInMs: 60_000 });
  await assert.rejects(erase([id]), isBeingSent);
  assert.notDeepEqual(await tablesWith(store, tracesOf(one)), []);
  await database.query("UPDATE message_records SET status = 'accepted' WHERE message_id = $1", [id]);
  await erase([id]);
  assert.equal(await findLost(database, 0), 0, 'the lease knows nothing of the message any more');
  await assertErased(one);
});

it('a message that is being sent for 10 s: the command tries again until then, and not once more', async () => {
  const [id] = (await register(key, [applicant(one)])) as [number];
  await database.query('SELECT make_messages($1)', [[id]]);
  await setMessages(database, [id], { status: 'sending', dueInMs: 60_000 });
  const clock = new TestClock();
  let isOver = false;
  const erasing = eraseSubject(
    { ...context, clock },
    { phone: one.phone },
    { close: true, reason: 'asked for' },
  ).finally(() => {
    isOver = true;
  });
  const refused = assert.rejects(erasing, /a message to the person is being sent: nothing was erased/);
  for (let waitedMs = 0; waitedMs <= PATIENCE_MS; waitedMs += PAUSE_MS) {
    await clock.untilTimer(PAUSE_MS);
    assert.equal(isOver, false, `${waitedMs} ms`);
    await clock.advance(PAUSE_MS);
  }
  await Promise.race([refused, clock.untilTimer(PAUSE_MS)]);
  assert.equal(isOver, true);
  await database.query("UPDATE message_records SET status = 'accepted' WHERE message_id = $1", [id]);
  await erase([id]);
  await assertErased(one);
});

it('a worker that has claimed the message: the erasure waits, and then finds it being sent', async () => {
  const [id] = (await register(key, [applicant(one)])) as [number];
  const worker = await database.connect();
  await worker.query('BEGIN');
  await worker.query('SELECT * FROM take_from_outbox($1)', [[id]]);
  const erasing = assert.rejects(eraseAtLast([id]), isBeingSent);
  await eventually('the wait', async () => (await waitingSessions(database)).length > 0);
  await worker.query(
    "INSERT INTO leases (begun_at, lost_at, ids, types, attempts) VALUES (now(), now() + interval '1 minute', $1, 'a', '{1}')",
    [[id]],
  );
  await worker.query("INSERT INTO message_counts VALUES ('queued', -1), ('sending', 1)");
  await worker.query('COMMIT');
  worker.release();
  await erasing;
  await database.query("UPDATE leases SET lost_at = now() - interval '1 second'");
  assert.equal(await findLost(database, 0), 1);
  await erase([id]);
  await assertErased(one);
});

it('a reseal that has read the envelope before: it leaves the envelope that the erasure has written', async () => {
  const mate = aPerson();
  const [id, beside] = (await register(key, [
    applicant({ ...one, ...REJECTED }),
    applicant({ ...mate, ...REJECTED }),
  ])) as [number, number];
  const next = new Vault(NEW);
  await besideErasure([id], () => resealEnvelopes(database, next, `${Math.floor(id / 128)}`), true);
  await assertErased(one);
  const { rows } = await database.query(
    'SELECT get_byte(substring(envelope FROM 1 FOR 1), 0) AS key FROM batches WHERE id = batch_of($1)',
    [id],
  );
  assert.deepEqual(rows, [{ key: 1 }]);
  assert.equal((await json('application', 'show', `${beside}`, '--reveal', '--reason', 'x')).name, mate.name);
});

it('a trim of the same envelope: the erasure has trimmed it', async () => {
  const [id, other] = (await register(key, [
    applicant({ ...one, ...REJECTED }),
    applicant({ ...aPerson(), ...REJECTED, messaging_optin: false }),
  ])) as [number, number];
  await database.query(
    "UPDATE batches SET surplus = true, created_at = now() - interval '1 minute', phones[2] = NULL, id_numbers[2] = NULL WHERE id = batch_of($1)",
    [other],
  );
  await besideErasure([id], () => trimSurplus(database, vault, machineClock), true);
  const { rows } = await database.query('SELECT envelope, surplus FROM batches WHERE id = batch_of($1)', [
    id,
  ]);
  assert.deepEqual(rows, [{ envelope: null, surplus: false }]);
});

it('two erasures of one batch and of one bucket: both are gone', async () => {
  const mate = aPerson();
  const [id, beside] = (await register(key, [
    applicant({ ...one, ...REJECTED }),
    applicant({ ...mate, ...REJECTED }),
  ])) as [number, number];
  await closePartition(database);
  // One bucket for both, so that the second erasure changes what the first one has left.
  await besideErasure([id], () => eraseAtLast([beside]), true);
  await assertErased(one);
  await assertErased(mate);
});

it('retention that writes the partition again: the erasure gives way and stores nothing, and then goes through', async () => {
  const [id] = (await register(key, [applicant(one), applicant({ ...aPerson(), ...REJECTED })])) as [number];
  await closePartition(database);
  await growOlder(database, 31);
  const upkeep = await database.connect();
  await upkeep.query('BEGIN');
  await upkeep.query('SELECT forget_partition(30)');
  await assert.rejects(erase([id]), isLocked);
  await upkeep.query('COMMIT');
  upkeep.release();
  await erase([id]);
  await trimSurplus(database, vault, machineClock, { after: '0' });
  await assertErased(one);
});

it('an erasure under way: retention and the look-up buckets leave the partition to their next turn', async () => {
  const [id] = (await register(key, [applicant(one), applicant({ ...aPerson(), ...REJECTED })])) as [number];
  await closePartition(database);
  await growOlder(database, 31);
  await database.query('UPDATE closed_segments SET kept_ms = NULL, in_buckets = false');
  await database.query('DELETE FROM look_up_buckets');
  const buckets = async () => (await database.query('SELECT FROM look_up_buckets')).rowCount ?? 0;
  await besideErasure(
    [id],
    async () => {
      await fillLookUpBuckets(database);
      assert.equal(await buckets(), 0);
      assert.equal(await forgetPartitions(database, machineClock, 30), 0);
    },
    false,
  );
  await fillLookUpBuckets(database);
  assert.ok((await buckets()) > 0);
  assert.ok((await forgetPartitions(database, machineClock, 30)) > 0);
  await assertErased(one);
});

it('a review at the same moment: it waits, and finds the application rejected', async () => {
  const [id] = (await register(key, [applicant(one)])) as [number];
  await besideErasure(
    [id],
    () => assert.rejects(json('application', 'disburse', `${id}`, '--reason', 'x'), /is rejected/),
    true,
  );
  await assertErased(one);
});
