/** D15 on a cluster: an error that may come after the commit is not an answer. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UnavailableError } from '../../src/ground/base/registration-failure.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { intakeOf } from '../support/intake.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

// Every other commit of a registration ends as if a machine is lost during it.
for (const statement of [
  'CREATE SEQUENCE commits',
  // The trigger runs as the role of the service.
  'GRANT USAGE ON SEQUENCE commits TO PUBLIC',
  `CREATE FUNCTION lose_machine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('commits') % 2 = 1 THEN RAISE 'connection to the remote node failed' USING ERRCODE = 'XX000'; END IF;
    RETURN NULL;
  END $$`,
  `CREATE CONSTRAINT TRIGGER lose_machine AFTER INSERT ON batch_receipts DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION lose_machine()`,
]) {
  await database.query(statement);
}

async function register(isSpread: boolean) {
  const intake = await intakeOf({ ...store, isSpread });
  return intake(key, [applicant({ phone: null })]);
}

it('D15: on a cluster the batch is sent again until its outcome is certain', async () => {
  await register(true);
  const { rows } = await database.query('SELECT count(*)::int AS count FROM applications');
  assert.equal(rows[0].count, 1);
});

it('D37: on one machine an error means that nothing was stored', async () => {
  await assert.rejects(register(false), { code: 'XX000' });
  const { rows } = await database.query('SELECT count(*)::int AS count FROM applications');
  assert.equal(rows[0].count, 1);
});

it('D37: an error before the commit is answered at once, because no machine has stored anything', async () => {
  await database.query('DROP TRIGGER lose_machine ON batch_receipts');
  await database.query(
    'CREATE TRIGGER lose_machine BEFORE INSERT ON batch_receipts FOR EACH ROW EXECUTE FUNCTION lose_machine()',
  );
  await database.query("SELECT setval('commits', 2)");
  const before = await database.query('SELECT count(*)::int AS count FROM applications');
  await assert.rejects(register(true), UnavailableError);
  const { rows } = await database.query(
    'SELECT (SELECT count(*)::int FROM applications) AS count, last_value FROM commits',
  );
  assert.deepEqual(rows, [{ count: before.rows[0].count, last_value: '3' }], 'it was not sent again');
});

it('D37: a registration that fails each time because others come in between is given up after four tries', async () => {
  await database.query('DROP TRIGGER lose_machine ON batch_receipts');
  await database.query(`CREATE OR REPLACE FUNCTION lose_machine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM nextval('commits');
    RAISE 'quota is left' USING ERRCODE = 'VN001';
  END $$`);
  await database.query(
    'CREATE TRIGGER lose_machine BEFORE INSERT ON batch_receipts FOR EACH ROW EXECUTE FUNCTION lose_machine()',
  );
  await database.query("SELECT setval('commits', 1, false)");
  await assert.rejects(register(false), UnavailableError);
  const { rows } = await database.query('SELECT last_value FROM commits');
  assert.deepEqual(rows, [{ last_value: '4' }]);
});
