/** A conversation ends for want of an answer only after a time that has certainly passed (D39, D43). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
await database.query(
  `UPDATE api_keys SET brand = '{"conversation": {"reminders": {"before_window_ends_hours": 0, "template_after_hours": 0}}}'
   WHERE id = $1`,
  [key],
);
const { settle, applicantAt } = await conversationsOf(store, key);

/** As if the database's clock had leapt ahead by so much. */
const leap = (id: number, ms: number) =>
  database.query(
    `UPDATE conversations SET moved_at = ${shifted('moved_at', '$2::interval')},
       due_at = ${shifted('due_at', '$2::interval')} WHERE application_id = $1`,
    [id, `-${ms} ms`],
  );
const pass = (ms: number) => database.query('UPDATE elapsed SET ms = ms + $1', [ms]);

async function waiting() {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  assert.equal((await ana.row()).timer, 'expire');
  return ana;
}

it('D39: a clock that leaps a week ahead ends no conversation', async () => {
  const ana = await waiting();
  const replies = await ana.replies();
  await pass(60 * HOUR_MS);
  await leap(ana.id, 8 * DAY_MS);
  await settle();
  assert.deepEqual([await ana.place(), await ana.replies()], ['data_consent service', replies]);
  const { due_at: due, timer } = await ana.row();
  const hours = (due.getTime() - (await databaseTime(database)).getTime()) / HOUR_MS;
  assert.ok(timer === 'expire' && hours > 100 && hours < 116, `it waits ${hours} hours more`);
  await ana.choose(0);
  assert.equal(await ana.place(), 'earnings service');
});

it('D43: it ends when its time has passed by the clock and by the elapsed time', async () => {
  const ana = await waiting();
  await pass(7 * DAY_MS);
  await settle();
  assert.equal(await ana.place(), 'data_consent service');
  await leap(ana.id, 7 * DAY_MS);
  await settle();
  assert.equal(await ana.place(), 'expired service');
});

it('D39: a leap ends it once the rest of its time has passed', async () => {
  const ana = await waiting();
  await leap(ana.id, 8 * DAY_MS);
  await settle();
  await pass(7 * DAY_MS);
  await leap(ana.id, 7 * DAY_MS);
  await settle();
  assert.equal(await ana.place(), 'expired service');
});
