/** Refusals of a key are counted, shown and, if they look like a sweep of phones, logged (D16, D39). */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import type { Outcome } from '../../src/domain/application/read-application.ts';
import { toKeyId } from '../../src/domain/partner/credential.ts';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { KEY_OUTCOMES } from '../../src/subjects/partners/sql/tables.ts';
import { KeyOutcomeCounter, type KeyOutcomes } from '../../src/subjects/partners/uses/key-outcome-counter.ts';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database, url } = store;
const { run, json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const key = toKeyId((await json('key', 'issue', '--partner', `${partner}`)).id);
const other = toKeyId((await json('key', 'issue', '--partner', `${partner}`)).id);

beforeEach(() => database.query('DELETE FROM key_outcomes'));

const outcomes = (kind: Outcome['kind'], count: number) =>
  Array.from({ length: count }, () => ({ kind }) as Outcome);

/** The counter of one process, and the sweeps and errors that it reported. */
function record(pool = database, clock: Clock = machineClock) {
  const sweeps: KeyOutcomes[] = [];
  const errors: unknown[] = [];
  const made = new KeyOutcomeCounter(pool, {
    onSweep: (hour) => sweeps.push(hour),
    onError: (error) => errors.push(error),
    clock,
  });
  return { made, sweeps, errors };
}

test('counts of several processes add up by key and hour, and the CLI shows them', async () => {
  const [one, two] = [record(), record()];
  one.made.answered(key, [
    ...outcomes('registered', 3),
    ...outcomes('duplicate', 2),
    ...outcomes('not_an_object', 1),
  ]);
  one.made.answered(key, outcomes('over_quota', 4));
  two.made.answered(key, outcomes('invalid', 5));
  two.made.refused(key);
  one.made.remembered(key);
  two.made.remembered(key);
  two.made.forgotten(key, 8);
  two.made.answered(other, outcomes('registered', 7));
  await Promise.all([one.made.stop(), two.made.stop()]);
  const refusals = await json('key', 'refusals');
  assert.equal(refusals.length, 1, 'a key that was refused nothing is not shown');
  const { hour, ...row } = refusals[0];
  assert.match(hour, /^\d{4}-\d\d-\d\dT\d\d:00:00\.000\+00:00$/);
  assert.deepEqual(row, {
    key_id: key,
    hint: row.hint,
    partner: { id: partner, name: 'Acme' },
    registered: 3,
    duplicate: 2,
    over_quota: 4,
    invalid: 6,
    unauthorized: 1,
    remembered: 2,
    forgotten: 8,
    sweep_at: null,
  });
  const { out } = await run('key', 'refusals', '--key', `${key}`, '--partner', `${partner}`);
  assert.match(out, /^\d{4}-\d\d-\d\d \d\d:00:00Z +1 +1 Acme +3 +2 +4 +6 +1 +2 +8 +-$/m);
  assert.match((await run('key', 'refusals', '--key', `${other}`)).out, /^Nothing was refused/);
  assert.equal((await run('key', 'refusals', '--key', '99')).err, 'error: there is no key 99\n');
});

/** The outcomes of an hour, and whether they look like a sweep: 500 refusals, and more than were registered. */
const HOURS: readonly (readonly [
  registered: number,
  duplicate: number,
  quota: number,
  invalid: number,
  boolean,
])[] = [
  [0, 499, 0, 9_000, false],
  [0, 500, 0, 0, true],
  [0, 0, 500, 0, true],
  [499, 250, 250, 0, true],
  [500, 250, 250, 0, false],
  [9_000, 5_000, 0, 0, false],
];
for (const [registered, duplicate, quota, invalid, isSweep] of HOURS) {
  const name = `${registered} registered, ${duplicate} duplicates, ${quota} over quota, ${invalid} invalid`;
  test(`${name}: ${isSweep ? 'a sweep, told once' : 'no sweep'}`, async () => {
    const [one, two] = [record(), record()];
    const given = [
      ...outcomes('registered', registered),
      ...outcomes('duplicate', duplicate),
      ...outcomes('over_quota', quota),
      ...outcomes('invalid', invalid),
    ];
    // Two processes have seen a part each.
    one.made.answered(
      key,
      given.filter((_, index) => index % 2 === 0),
    );
    two.made.answered(
      key,
      given.filter((_, index) => index % 2 === 1),
    );
    await one.made.write();
    await two.made.write();
    assert.equal(one.sweeps.length + two.sweeps.length, isSweep ? 1 : 0);
    two.made.answered(key, outcomes('invalid', 1));
    await Promise.all([one.made.stop(), two.made.stop()]);
    const told = [...one.sweeps, ...two.sweeps];
    assert.deepEqual(
      told.map((hour) => [hour.keyId, hour.registered, hour.duplicate, hour.over_quota, hour.invalid]),
      isSweep ? [[key, registered, duplicate, quota, invalid]] : [],
    );
    const [shown] = await json('key', 'refusals');
    assert.equal(shown.sweep_at !== null, isSweep);
  });
}

test('counts of a failed write go with the next write', async () => {
  const pool = openPatiently(url, 1);
  const { made, errors } = record(pool);
  made.answered(key, outcomes('duplicate', 2));
  await database.query('ALTER TABLE key_outcomes RENAME TO elsewhere');
  await made.write();
  assert.equal(errors.length, 1);
  made.answered(key, outcomes('duplicate', 3));
  made.refused(other);
  await database.query('ALTER TABLE elsewhere RENAME TO key_outcomes');
  await made.stop();
  await pool.end();
  const refusals = await json('key', 'refusals');
  assert.deepEqual(
    refusals.map((row: { key_id: number; duplicate: number; unauthorized: number }) => [
      row.key_id,
      row.duplicate,
      row.unauthorized,
    ]),
    [
      [other, 0, 1],
      [key, 5, 0],
    ],
  );
});

test('hours are deleted when they are 30 days old by the clock and by the elapsed time (D39); a list longer than a chunk is whole', async () => {
  const { rows } = await database.query<{ ms: string }>('SELECT ms FROM elapsed');
  await database.query(
    `INSERT INTO key_outcomes SELECT date_trunc('hour', now()) - n * interval '1 hour', $1, 0, 1, 0, 0, 0, 0, 0, NULL, $2
    FROM generate_series(0, 1200) AS n`,
    [key, rows[0]?.ms],
  );
  const all: { hour: string }[] = await json('key', 'refusals');
  assert.equal(new Set(all.map(({ hour }) => hour)).size, 1_201);
  assert.deepEqual(
    all,
    all.toSorted((a, b) => (a.hour < b.hour ? 1 : -1)),
  );
  const left = async () => {
    await forgetRows(database, KEY_OUTCOMES);
    return (await json('key', 'refusals')).length;
  };
  // As after a leap of the clock by weeks.
  assert.equal(await left(), 1_201);
  await database.query('UPDATE elapsed SET ms = ms + 30 * 24 * 3600000::bigint');
  const kept = await left();
  assert.ok(kept === 720 || kept === 721, `${kept}`);
});

test('counts are written every five seconds, and a stop writes the last ones', async () => {
  const clock = new TestClock();
  const { made } = record(database, clock);
  const written = async () =>
    (await json('key', 'refusals')).map(({ duplicate }: { duplicate: number }) => duplicate);
  made.answered(key, outcomes('duplicate', 2));
  await clock.advance(4_999);
  assert.deepEqual(await written(), []);
  await clock.advance(1);
  await eventually('the counts', async () => (await written()).length === 1);
  made.answered(key, outcomes('duplicate', 3));
  await made.stop();
  assert.deepEqual(await written(), [5]);
  assert.equal(clock.timers, 0);
});

test('a service that does not start leaves no timer behind', async () => {
  const clock = new TestClock();
  const config = readConfig({ DELIVERY: 'on', CONTACT_WINDOWS_FILE: '/nowhere/windows.json' });
  const log = pino({ level: 'silent' });
  await assert.rejects(startPatiently(config, { ...store, clock }, log), /CONTACT_WINDOWS_FILE/);
  // What rings once has rung then.
  await clock.advance(60_000);
  assert.equal(clock.timers, 0);
});
