/** The partitions of batches: made ahead or when needed, and searched wherever an application is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fillLookUpBuckets, makePartitions } from '../../src/storage/partitions.ts';
import { commandLine } from '../cli/harness.ts';
import { goOnFrom, lastBatchNumber, partitionEnds } from '../support/batch-numbers.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const { database } = service;
const { apiKey } = await service.addPartner();
const { json } = commandLine(service);

interface Registered {
  readonly id: number;
  readonly phone: string;
  readonly id_number: string;
}

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
    assert.ok((all.at(-1) as number) > (await lastBatchNumber(database)) + 32_768);
    assert.equal(new Set(all).size, all.length);
    await registered();
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
