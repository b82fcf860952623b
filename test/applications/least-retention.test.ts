/** The role of the service lets applications go no earlier than the owner of the tables, whatever it writes before. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import {
  forgetBy,
  isLeastRetention,
  putLeastRetention,
} from '../../src/subjects/applications/sql/retention.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition, growOlder } from '../support/old-partitions.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { json } = commandLine(store);
const DENIED = { code: '42501' };
const forget = (rejected: number, disbursed: number) =>
  forgetBy(runtime, machineClock, { rejected, disbursed });

it('decides by a time that its caller cannot write, and by the retention that the owner knows', async () => {
  await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', '1');
  const [id] = await (await registrarOf(store))(key, [applicant({ phone: toPhone('+573001110003') })]);
  await json('application', 'reject', `${id}`, '--reason', 'over');
  await closePartition(database);

  for (const sql of [
    'UPDATE elapsed SET ms = ms + 1e12',
    "UPDATE batches SET created_at = now() - interval '9 years'",
    "UPDATE closed_segments SET closed_ms = 0, closed_at = now() - interval '9 years'",
    // Another row in its place.
    "UPDATE closed_segments SET ends_at = -ends_at, closed_at = now() - interval '9 years'",
    "UPDATE closed_segments SET ends_at = -ends_at, closed_at = now() - interval '9 years'",
  ]) {
    await runtime.query(sql);
    assert.equal(await forget(1, 1), 0, sql);
  }
  for (const sql of [
    'UPDATE least_retention SET rejected = 1',
    'DELETE FROM least_retention',
    'DROP TABLE least_retention',
  ])
    await assert.rejects(runtime.query(sql), DENIED, sql);

  const retention = { rejected: 90, disbursed: null };
  await putLeastRetention(database, retention);
  assert.equal(await isLeastRetention(runtime, retention), true);
  await growOlder(database, 100);
  for (const [rejected, disbursed] of [
    [89, 89],
    [89, 1_000_000],
    [90, 89],
  ] as const)
    await assert.rejects(
      forget(rejected, disbursed),
      /the owner of the tables keeps applications for longer/,
    );
  assert.equal(await forget(90, 1_000_000), 1);
});
