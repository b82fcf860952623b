/** A batch that waited until its answer would come too late is not sent to the database any more (D37). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UnavailableError } from '../../src/ground/base/registration-failure.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { intakeOf } from '../support/intake.ts';
import { TestClock } from '../support/test-clock.ts';

/** A connection has 1.5 s, and the statement 3.3 s. */
const LEAST_TIME_MS = 4_800;
const store = { ...(await testDatabase()), clock: new TestClock() };
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

it('D37: a batch is registered with just the time of a connection and a statement, and with less it is not', async () => {
  const late = await intakeOf(store, LEAST_TIME_MS - 1);
  await assert.rejects(late(key, [applicant()]), UnavailableError);
  const { rows } = await store.database.query('SELECT count(*)::integer AS n FROM applications');
  assert.equal(rows[0].n, 0);
  const inTime = await intakeOf(store, LEAST_TIME_MS);
  const { outcomes } = await inTime(key, [applicant()]);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['registered'],
  );
});
