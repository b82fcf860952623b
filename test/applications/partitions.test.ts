/** The partitions of batches: made ahead or when needed, and searched wherever an application is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  fillLookUpBuckets,
  leavePartition,
  makePartitions,
  makePartitionsAhead,
} from '../../src/subjects/applications/sql/partitions.ts';
import { commandLine } from '../cli/harness.ts';
import { goOnFrom, lastBatchNumber, partitionEnds } from '../support/batch-numbers.ts';
import { isLockTimeout, whileLocked } from '../support/held-lock.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { allowSmallPartitions } from '../support/small-partitions.ts';

const service = await testService({}, { upkeep: false });
const { database } = service;
await allowSmallPartitions(database);
const { apiKey } = await service.addPartner();
const { json } = commandLine(service);

interface Registered {
  readonly id: number;
  readonly phone: string;
  readonly id_number: string;
}

const WIDTH = 2 ** 23;
const DAY_MS = 24 * 3_600_000;

let serial = 0;
async function registered(): Promise<Registered> {
  serial += 1;
  const phone = `+57315${String(serial).padStart(7, '0')}`;
  const application = anApplication({ phone, id_number: `P${serial}` });
  const { status, body, text } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
  assert.equal(status, 200, text);
  const [result] = (body as { results: { id: number }[] }).results;
  return { id: result?.id as number, phone, id_number: `P${serial}` };
}

const ends = () => partitionEnds(database);
/** Where it ends. */
const partitionInUse = async () => (Math.floor((await lastBatchNumber(database)) / WIDTH) + 1) * WIDTH;
/** As if this many milliseconds had certainly passed. */
const pass = (ms: number) => database.query('UPDATE closed_segments SET closed_ms = closed_ms - $1', [ms]);

const found = async (...options: string[]) =>
  (await json('application', 'list', ...options)).map(({ id }: { id: number }) => id);

async function assertFound(applications: readonly Registered[]): Promise<void> {
  for (const { id, phone, id_number } of applications) {
    assert.deepEqual(await found('--phone', phone), [id]);
    assert.deepEqual(await found('--id-number', id_number), [id]);
    assert.deepEqual(await found('--phone', phone, '--id-number', id_number), [id]);
    assert.deepEqual(await found('--phone', phone, '--id-number', 'P0'), []);
  }
}

describe('a search by phone or ID number', () => {
  it('finds applications in a partition that is open, just closed, or in buckets, and in all of them together', async () => {
    const applications = [await registered()];
    await assertFound(applications);
    for (const end of (await ends()).slice(0, 2)) {
      await goOnFrom(database, end - 1);
      applications.push(await registered(), await registered());
      await fillLookUpBuckets(database);
      await assertFound(applications);
    }
    const inBuckets = async () =>
      (await database.query('SELECT count(*)::int AS count FROM closed_segments WHERE in_buckets')).rows[0]
        .count;
    assert.equal(await inBuckets(), 0, 'a batch with a number of before may still be on its way');
    await pass(60_000);
    await Promise.all([fillLookUpBuckets(database), fillLookUpBuckets(database)]);
    await fillLookUpBuckets(database);
    assert.equal(await inBuckets(), 2);
    await assertFound(applications);
    const newestFirst = applications.map(({ id }) => id).toReversed();
    assert.deepEqual(await found(), newestFirst);
  });
});

describe('the partition of a batch', () => {
  it('is made ahead, without a gap, also by several processes at once', async () => {
    await goOnFrom(database, (await ends()).at(-1) as number);
    await Promise.all(Array.from({ length: 4 }, () => makePartitions(database)));
    const all = await ends();
    assert.ok((all.at(-1) as number) > (await lastBatchNumber(database)) + WIDTH);
    assert.equal(new Set(all).size, all.length);
    await registered();
  });

  it('is left for the next one when it has enough applications, or is old enough', async () => {
    const partitionOf = (id: number) => Math.floor(id / 128 / WIDTH);
    const before = await registered();
    assert.equal(await leavePartition(database, 1_000, DAY_MS), false, 'it is neither full nor old');
    assert.equal(await leavePartition(database, 1, DAY_MS), true);
    assert.equal(await leavePartition(database, 1, 0), false, 'an empty partition is not left');
    const next = await registered();
    assert.equal(partitionOf(next.id), partitionOf(before.id) + 1);
    await fillLookUpBuckets(database);
    await database.query('UPDATE elapsed SET ms = ms + $1', [DAY_MS]);
    assert.equal(await leavePartition(database, 1_000, DAY_MS), true);
    const last = await registered();
    assert.equal(partitionOf(last.id), partitionOf(next.id) + 1);
    await assertFound([before, next, last]);
    await fillLookUpBuckets(database);
    await pass(60_000);
    await fillLookUpBuckets(database);
    await assertFound([before, next, last]);
  });

  it('is judged also where every batch of it is in a closed segment', async () => {
    const { rows } = await database.query<{ applications: string }>(
      'SELECT applications_between(7, 7) AS applications',
    );
    assert.deepEqual(rows, [{ applications: '0' }]);
  });

  it('is not old while the partition before it is still to be closed', async () => {
    await registered();
    assert.equal(await leavePartition(database, 1, DAY_MS), true);
    await registered();
    await database.query('UPDATE elapsed SET ms = ms + $1', [DAY_MS]);
    assert.equal(await leavePartition(database, 1_000, DAY_MS), false);
    await fillLookUpBuckets(database);
    assert.equal(await leavePartition(database, 1_000, DAY_MS), false);
    await database.query('UPDATE elapsed SET ms = ms + $1', [DAY_MS]);
    assert.equal(await leavePartition(database, 1_000, DAY_MS), true);
    await fillLookUpBuckets(database);
  });

  it('is left while batches come, and no number is given twice or goes back', async () => {
    // Registrations under way may hold the numbers for longer than half a second; the upkeep tries again as well.
    const leave = () => leavePartition(database, 1, 0).catch(isLockTimeout);
    const numbers: number[][] = await Promise.all(
      Array.from({ length: 4 }, async (_, lane) => {
        const mine: number[] = [];
        for (let n = 0; n < 40; n += 1) {
          if (lane === 0 && n % 5 === 0) {
            // As other processes do at the same moment.
            await Promise.all([leave(), leave()]);
          }
          mine.push(Math.floor((await registered()).id / 128));
        }
        return mine;
      }),
    );
    for (const mine of numbers)
      assert.deepEqual(
        mine,
        mine.toSorted((left, right) => left - right),
      );
    const all = numbers.flat();
    assert.equal(new Set(all).size, all.length);
    assert.ok(new Set(all.map((number) => Math.floor(number / WIDTH))).size > 4);
  });

  it('is put into buckets by segments, which close when they have enough applications', async () => {
    await leavePartition(database, 1, 0);
    await fillLookUpBuckets(database);
    const segments = async () =>
      (
        await database.query(
          'SELECT applications::float8 AS applications FROM closed_segments WHERE begins_at >= $1 ORDER BY ends_at',
          [(await partitionInUse()) - WIDTH],
        )
      ).rows.map(({ applications }) => applications);
    const first = await registered();
    const second = await registered();
    await fillLookUpBuckets(database, 3);
    assert.deepEqual(await segments(), []);
    const third = await registered();
    await fillLookUpBuckets(database, 3);
    assert.deepEqual(await segments(), [3]);
    const fourth = await registered();
    await pass(60_000);
    await fillLookUpBuckets(database, 3);
    assert.deepEqual(await segments(), [3]);
    await assertFound([first, second, third, fourth]);
  });

  it('is put into buckets early where batches are small, and then again as one segment', async () => {
    const is = (name: string, value: number) =>
      database.query(
        `CREATE OR REPLACE FUNCTION ${name}() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN ${value}`,
      );
    await leavePartition(database, 1, 0);
    await fillLookUpBuckets(database);
    await pass(60_000);
    await fillLookUpBuckets(database);
    const begin = (await partitionInUse()) - WIDTH;
    const filled = async () => {
      await fillLookUpBuckets(database);
      await pass(60_000);
      await fillLookUpBuckets(database);
      const { rows } = await database.query(
        `SELECT s.applications::integer AS applications, s.in_buckets, (
           SELECT sum(cardinality(k.indexes)) FROM look_up_buckets k WHERE k.begins_at = s.begins_at AND k.is_phone)::integer AS phones
         FROM closed_segments s WHERE s.begins_at >= $1 AND s.begins_at < $2 ORDER BY s.ends_at`,
        [begin, begin + WIDTH],
      );
      for (const { applications, in_buckets, phones } of rows)
        assert.deepEqual([in_buckets, phones], [true, applications]);
      return rows.map(({ applications }) => applications);
    };
    const all: Registered[] = [];
    const register = async (count: number) => {
      for (let n = 0; n < count; n += 1) all.push(await registered());
    };
    await is('segment_batches', 3);
    await is('segment_applications', 8);
    try {
      for (const segments of [[3], [3, 3], [9], [9, 3]]) {
        await register(3);
        assert.deepEqual(await filled(), segments);
        await assertFound(all);
      }
      await register(1);
      await leavePartition(database, 1, 0);
      assert.deepEqual(await filled(), [9, 4]);
      await assertFound(all);
      const { rows } = await database.query(
        'SELECT FROM look_up_buckets k WHERE NOT EXISTS (SELECT FROM closed_segments s WHERE s.begins_at = k.begins_at)',
      );
      assert.deepEqual(rows, []);
    } finally {
      await is('segment_batches', 65_536);
      await is('segment_applications', 1_048_576);
    }
  });

  it('is not put into buckets while a registration is under way, and the wait is short', async () => {
    await leavePartition(database, 1, 0);
    await registered();
    await fillLookUpBuckets(database, 1);
    await pass(60_000);
    await whileLocked(database, `LOCK TABLE batches_to_${await partitionInUse()} IN ROW EXCLUSIVE MODE`, () =>
      assert.rejects(fillLookUpBuckets(database), isLockTimeout),
    );
    await fillLookUpBuckets(database);
  });

  it('is given up for now while another session holds a lock on the table, and registrations go on', async () => {
    await makePartitionsAhead(database);
    await goOnFrom(database, (await ends()).at(-2) as number);
    const count = (await ends()).length;
    // As an index that is made by hand takes it.
    await whileLocked(database, 'LOCK TABLE batches IN SHARE UPDATE EXCLUSIVE MODE', async () => {
      await assert.rejects(makePartitionsAhead(database), isLockTimeout);
      await registered();
    });
    await makePartitionsAhead(database);
    assert.equal((await ends()).length, count + 1);
  });

  it('is made when it is missing', async () => {
    const last = (await ends()).at(-1) as number;
    await goOnFrom(database, last + 1_000);
    const { id } = await registered();
    assert.ok(Math.floor(id / 128) > last + 1_000);
    assert.ok(((await ends()).at(-1) as number) > last + 1_001);
  });

  it('cannot be made when the numbers are used up: nothing is stored, and the answer says so', async () => {
    const before = await found();
    await goOnFrom(database, 70_368_744_177_663);
    const body = { applications: [anApplication({ phone: '+573159999999' })] };
    assert.equal((await post(`${service.url}/PRO`, apiKey, body)).status, 500);
    assert.deepEqual(await found(), before);
  });
});
