/** The making of partitions has more time than another statement, by the real limits. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { STATEMENT_TIMEOUT_MS } from '../../src/ground/postgres/database.ts';
import { makePartitionsAhead } from '../../src/subjects/applications/sql/partitions.ts';
import { partitionEnds } from '../support/batch-numbers.ts';
import { testDatabase } from '../support/database.ts';
import { whileLocked } from '../support/held-lock.ts';

it('a partition may take longer ahead of registration than another statement may', async (t) => {
  const { database: own, runtime } = await testDatabase({ isPatient: false });
  const { rows } = await own.query('SELECT is_worker() AS yes');
  if (rows[0].yes) return t.skip('the coordinator has the lock');
  let making: Promise<void> | undefined;
  await whileLocked(own, 'SELECT pg_advisory_xact_lock(8726, 2)', async () => {
    making = makePartitionsAhead(runtime);
    await sleep(STATEMENT_TIMEOUT_MS + 1_000);
  });
  await making;
  assert.ok((await partitionEnds(own)).length > 1);
});
