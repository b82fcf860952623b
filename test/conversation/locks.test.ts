/** The order of locks (head of `migrations/0004_messages.sql`) of turns, and of an erasure beside them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApplicationId, reminderOf, toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { addInputs } from '../../src/subjects/conversation/sql/inputs.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { queueReminders } from '../../src/subjects/messages/sql/changes/turn-changes.ts';
import { eraseApplications } from '../../src/subjects/rights/uses/erase-applications.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { isLockTimeout, whileLocked } from '../support/held-lock.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { context, hear, settle, applicantAt } = await conversationsOf(store, key);

/** The first applicant has the lower id. */
async function twoPersons() {
  const [ana, eva] = [await applicantAt(), await applicantAt()];
  await ana.tap();
  await eva.tap();
  return { ana, eva };
}
const recordOf = ({ id }: { id: number }) => reminderOf(toApplicationId(id));
const lockRecord = (id: string) => `SELECT FROM message_records WHERE message_id = ${id} FOR UPDATE`;
const lockState = ({ id }: { id: number }) =>
  `SELECT FROM application_states WHERE batch_id = batch_of(${id}) AND application_id = ${id} FOR UPDATE`;

/**
 * While another session holds what `first` takes, `work` waits for it; then the other session takes `second` at once.
 * Otherwise the two wait for each other.
 */
async function assertInOrder(first: string, work: () => Promise<unknown>, second: string): Promise<void> {
  let working: Promise<unknown> = Promise.resolve();
  await whileLocked(database, first, async () => {
    working = work();
    await Promise.race([
      working.then(() => assert.fail('it waits for nothing')),
      eventually('a session that waits', async () => (await waitingSessions(database)).length === 1),
    ]);
    await assertIsFree(second);
  });
  await working;
}

async function assertIsFree(lock: string): Promise<void> {
  await inTransaction(database, async (session) => {
    const { rowCount } = await session.query(`${lock} NOWAIT`);
    assert.equal(rowCount, 1);
  });
}

describe('turns of one transaction', () => {
  it('lock the records of messages in the order of their ids, whatever becomes of these', async () => {
    const { ana, eva } = await twoPersons();
    const both = [ana, eva].map(({ id }): ApplicationId => toApplicationId(id));
    await inTransaction(database, (session) => queueReminders(session, both));
    await database.query(
      `UPDATE message_records SET status = 'failed', due_at = NULL WHERE message_id = ${recordOf(ana)}`,
    );
    // The question comes too late to be told. The next turn sends the template.
    const ring =
      "UPDATE conversations SET heard_at = now() - interval '25 hours', due_at = now() WHERE application_id = $1";
    await database.query(ring, [ana.id]);
    await takeTurns(context);
    await database.query(ring, [ana.id]);
    await hear(await eva.textEvent('Número equivocado'));
    await assertInOrder(lockRecord(recordOf(ana)), () => takeTurns(context), lockRecord(recordOf(eva)));
    const { rows } = await database.query(
      'SELECT status FROM message_records WHERE message_id = ANY ($1) ORDER BY message_id',
      [[ana, eva].map(recordOf)],
    );
    assert.deepEqual(rows, [{ status: 'queued' }, { status: 'cancelled' }]);
  });

  it('lock applications in the order of their ids, also where one phone is wrong and another no more', async () => {
    const { ana, eva } = await twoPersons();
    await eva.write('Número equivocado');
    const about = { conversationId: (await eva.row()).id, applicationId: toApplicationId(eva.id) };
    await addInputs(database, vault, 'operator', [
      {
        ...about,
        messageIndex: null,
        workId: null,
        at: null,
        content: { kind: 'operator', act: 'give_back' },
      },
    ]);
    await hear(await ana.textEvent('Número equivocado'));
    await assertInOrder(lockState(ana), () => takeTurns(context), lockState(eva));
    const { rows } = await database.query(
      'SELECT wrong_person FROM application_states WHERE application_id = ANY ($1) ORDER BY application_id',
      [[ana.id, eva.id]],
    );
    assert.deepEqual(rows, [{ wrong_person: true }, { wrong_person: false }]);
    await settle();
  });
});

describe('an erasure', () => {
  it('waits for the turn of a conversation before it locks its application', async () => {
    const { ana } = await twoPersons();
    const options = { close: true, nobodySends: false };
    // On a busy machine it may wait longer than it may; a command tries again.
    const erase = (): Promise<unknown> =>
      eraseApplications(
        { database: store.coordinator ?? database, vault, clock: machineClock, actor: 'ana' },
        [toApplicationId(ana.id)],
        [],
        options,
      ).catch((error) => isLockTimeout(error) && erase());
    await assertInOrder(
      `SELECT FROM conversations WHERE application_id = ${ana.id} FOR NO KEY UPDATE`,
      erase,
      lockState(ana),
    );
    assert.equal(await ana.row(), undefined);
  });
});
