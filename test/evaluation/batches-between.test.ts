/** The walk over stored batches in the order of their numbers (docs/scale.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { Session } from '../../src/ground/postgres/database.ts';
import { batchesBetween } from '../../src/subjects/evaluation/sql/decided-batches.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { goOnFrom, lastBatchNumber } from '../support/batch-numbers.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database } = store;

it('finds each batch once, and crosses numbers without a batch in a few statements', async () => {
  const { json } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  const registered: number[] = [];
  const add = async () => {
    const phone = toPhone(`+5730055500${String(registered.length).padStart(2, '0')}`);
    await register(key, [applicant({ phone })]);
    registered.push(await lastBatchNumber(database));
  };
  await add();
  await add();
  await goOnFrom(database, 5_000_000);
  await add();
  await goOnFrom(database, 8_000_000);
  await add();
  let statements = 0;
  const session = {
    query: (...given: Parameters<Session['query']>) => {
      statements += 1;
      return database.query(...given);
    },
  } as Session;
  for (const most of [1, 2, 250]) {
    statements = 0;
    const found: number[] = [];
    let last = 0;
    for await (const { batches, next } of batchesBetween(session, 0, 2 ** 23, most)) {
      for (const { id } of batches) {
        assert.ok(Number(id) >= last && Number(id) < next, `${id} is between ${last} and ${next}`);
        found.push(Number(id));
      }
      last = next;
    }
    assert.deepEqual(found, registered);
    assert.equal(last, 2 ** 23);
    assert.ok(statements <= 20, `${statements} statements for ${most} batches a page`);
  }
});
