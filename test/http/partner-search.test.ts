/** `POST /PRO/applications/search` over HTTP (D56; D1, D2, D20, D24, D37, D41, D49, D55). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { batchOf, emptyApplications } from '../support/stored-applications.ts';

const service = await testService();
const { database } = service;
const { json } = commandLine(service);
const PATH = '/PRO/applications/search';

interface Page {
  readonly applications: readonly { readonly id: number; readonly id_number: string | null }[];
  readonly next: string | null;
  readonly unreadable?: readonly number[];
}

async function register(apiKey: string, ...changes: object[]): Promise<number[]> {
  const applications = changes.map((change) => anApplication({ ...IN_REVIEW, ...change }));
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  return (body as { results: { id: number }[] }).results.map(({ id }) => id);
}

async function search(apiKey: string, body: object, headers: Record<string, string> = {}) {
  const got = await post(service.url + PATH, apiKey, body, headers);
  return { ...got, body: got.body as Page };
}
const idsOf = ({ body }: { readonly body: Page }) => body.applications.map(({ id }) => id);

/** All pages, and how many there were. */
async function everyPage(apiKey: string, body: object) {
  const ids: number[] = [];
  let pages = 0;
  for (let cursor: string | null = null; ; pages += 1) {
    const page = await search(apiKey, { ...body, cursor });
    assert.equal(page.status, 200);
    ids.push(...idsOf(page));
    cursor = page.body.next;
    if (cursor === null) return { ids, pages: pages + 1 };
  }
}

/** Moves the registration of an application's whole batch. Times have to go up as the numbers of batches do. */
const registeredAt = async (id: number, time: string) =>
  database.query('UPDATE batches SET created_at = $2 WHERE id = $1', [
    (await batchOf(database, id)).id,
    time,
  ]);
beforeEach(() => emptyApplications(database));

const newestFirst = (ids: readonly number[]) => ids.toSorted((one, other) => other - one);

describe('D56: a search by ID number', () => {
  it('D49: finds eight spellings of one number, each element as GET tells it, and nothing of another partner', async () => {
    const [own, other] = [await service.addPartner(), await service.addPartner()];
    const SPELLINGS = [
      '1.077.345.210',
      '1077345210',
      '1 077 345 210',
      'CC 1077345210',
      'C.C. 1.077.345.210',
      'cc1077345210',
      '1-077-345-210',
      '１０７７３４５２１０',
    ];
    const ids: number[] = [];
    for (const id_number of SPELLINGS) {
      ids.push(...(await register(own.apiKey, { id_number }, {})).slice(0, 1));
      await register(other.apiKey, { id_number });
    }
    await json('application', 'approve', `${ids[0]}`, '--reason', 'fine', '--reason-code', 'income_verified');
    const expected = [];
    for (const id of newestFirst(ids)) {
      const response = await fetch(`${service.url}/PRO/applications/${id}`, {
        headers: { 'X-API-Key': own.apiKey },
      });
      expected.push(await response.json());
    }
    for (const id_number of SPELLINGS) {
      const { body } = await search(own.apiKey, { id_number });
      assert.deepEqual(body, { applications: expected, next: null }, id_number);
      assert.equal((await search(other.apiKey, { id_number })).body.applications.length, SPELLINGS.length);
    }
    assert.deepEqual(await everyPage(own.apiKey, { id_number: SPELLINGS[3], limit: 3 }), {
      ids: newestFirst(ids),
      pages: 3,
    });
    const nobody = await search(own.apiKey, { id_number: '5550001' });
    assert.deepEqual(nobody.body, { applications: [], next: null });
    // D25: the older name, in the names of D24.
    const spanish = await search(own.apiKey, { cedula: '1077345210', limit: 1 }, { 'Accept-Language': 'es' });
    const { aplicaciones } = spanish.body as unknown as {
      aplicaciones: { cedula: string; estado: string }[];
    };
    assert.deepEqual([aplicaciones[0]?.cedula, aplicaciones[0]?.estado], [SPELLINGS[7], 'en_revision']);
  });

  it('goes on in look-up buckets as in newer batches, and from the one into the other', async () => {
    const { apiKey } = await service.addPartner();
    const ids: number[] = [];
    for (let batch = 0; batch < 6; batch += 1) ids.push(...(await register(apiKey, { id_number: '77001' })));
    const middle = (await batchOf(database, ids[3]!)).id;
    // The first three batches are in buckets alone: nothing reads their own indexes any more.
    await database.query(
      `INSERT INTO look_up_buckets (is_phone, bucket, begins_at, indexes, offsets)
      SELECT false, bucket_of(w.index), 0, array_agg(w.index), array_agg(w.id::integer)
      FROM (SELECT b.id_numbers[1] AS index, application_id_at(b.id, 0) AS id FROM batches b WHERE b.id < $1) AS w
      GROUP BY bucket_of(w.index)`,
      [middle],
    );
    await database.query(
      'INSERT INTO closed_segments (begins_at, ends_at, closed_ms, applications, in_buckets) VALUES (0, $1, 0, 3, true)',
      [middle],
    );
    try {
      for (const limit of [1, 2, 4, 100]) {
        const { ids: found } = await everyPage(apiKey, { id_number: '77001', limit });
        assert.deepEqual(found, newestFirst(ids), `${limit} a page`);
      }
    } finally {
      await database.query('DELETE FROM closed_segments');
      await database.query('DELETE FROM look_up_buckets');
    }
  });

  it('an erased applicant is not found by the number, and by the day without it', async () => {
    const { apiKey } = await service.addPartner();
    const phone = '+573008800288';
    const [erased, kept] = await register(apiKey, { id_number: '88002', phone }, { id_number: '88003' });
    await registeredAt(erased!, '2025-03-04 12:00+00');
    await json('subject', 'erase', '--phone', phone, '--reason', 'asked', '--close', '--yes');
    assert.deepEqual(idsOf(await search(apiKey, { id_number: '88002' })), []);
    const { body } = await search(apiKey, { day: '2025-03-04' });
    assert.deepEqual(
      body.applications.map(({ id, id_number }) => [id, id_number]),
      [
        [kept, '88003'],
        [erased, null],
      ],
    );
  });
});

describe('D56: a search by day', () => {
  it("has the partner's registrations from midnight to midnight in UTC, newest first, in pages of any size", async () => {
    const [own, other] = [await service.addPartner(), await service.addPartner()];
    const TIMES = [
      ['2025-05-05 23:59:59.999999+00', false],
      ['2025-05-06 00:00:00+00', true],
      ['2025-05-06 11:30:00+00', true],
      ['2025-05-06 23:59:59.999999+00', true],
      ['2025-05-07 00:00:00+00', false],
    ] as const;
    const ids: number[] = [];
    for (const [time, isIn] of TIMES) {
      const some = await register(own.apiKey, {}, {}, {});
      await registeredAt(some[0]!, time);
      await registeredAt((await register(other.apiKey, {}))[0]!, time);
      if (isIn) ids.push(...some);
    }
    for (const limit of [1, 2, 3, 4, 100]) {
      const { ids: found } = await everyPage(own.apiKey, { day: '2025-05-06', limit });
      assert.deepEqual(found, newestFirst(ids), `${limit} a page`);
    }
    for (const day of ['2025-05-04', '2025-05-08', '2030-01-01', '2000-01-01']) {
      assert.deepEqual((await search(own.apiKey, { day })).body, { applications: [], next: null }, day);
    }
  });

  it('names an application whose facts are damaged, and tells the others', async () => {
    const { apiKey } = await service.addPartner();
    const [damaged] = await register(apiKey, {});
    const [whole] = await register(apiKey, {});
    for (const id of [damaged!, whole!]) await registeredAt(id, '2025-06-07 12:00+00');
    await database.query("UPDATE batches SET facts = '\\x' WHERE id = $1", [
      (await batchOf(database, damaged!)).id,
    ]);
    const { status, body } = await search(apiKey, { day: '2025-06-07' });
    assert.deepEqual(
      [status, body.applications.map(({ id }) => id), body.unreadable],
      [200, [whole], [damaged]],
    );
  });
});

it('D56: a cursor of another partner or of another question gets 400, and one of the same question in another spelling not', async () => {
  const [own, other] = [await service.addPartner(), await service.addPartner()];
  for (const { apiKey } of [own, other])
    await register(apiKey, { id_number: '99001' }, { id_number: '99001' });
  const question = { id_number: '99001', limit: 1 };
  const { next } = (await search(own.apiKey, question)).body;
  assert.ok(next !== null);
  assert.equal((await search(own.apiKey, { ...question, id_number: 'CC 99.001', cursor: next })).status, 200);
  const today = new Date().toISOString().slice(0, 10);
  for (const [apiKey, body] of [
    [other.apiKey, { ...question, cursor: next }],
    [own.apiKey, { ...question, id_number: '99002', cursor: next }],
    [own.apiKey, { day: today, cursor: next }],
    [own.apiKey, { ...question, cursor: `${next.slice(0, -1)}A` }],
    [own.apiKey, { ...question, cursor: '' }],
    [own.apiKey, { ...question, cursor: 1 }],
  ] as const) {
    const { status, body: answer } = await search(apiKey, body, {
      Accept: 'application/json; profile=codes',
    });
    // D55.
    assert.deepEqual(
      [status, answer],
      [400, { error: 'cursor must be the next of a page of the same search', code: 'bad_page_cursor' }],
    );
  }
});

it('D1, D2, D20, D41: the path takes POST, with a key for its environment, and for GET it is an id that nobody has', async () => {
  const dev = await service.addPartner({ environment: 'DEV' });
  const pro = await service.addPartner({ environment: 'PRO' });
  for (const [environment, { apiKey }, wrong] of [
    ['PRO', pro, dev],
    ['DEV', dev, pro],
  ] as const) {
    const url = `${service.url}/${environment}/applications/search`;
    for (const method of ['PUT', 'DELETE', 'HEAD', 'OPTIONS']) {
      const response = await fetch(url, { method });
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, POST'], method);
    }
    assert.equal((await fetch(url, { headers: { 'X-API-Key': apiKey } })).status, 404);
    for (const key of ['x', wrong.apiKey]) {
      // D2: whatever the body.
      assert.equal((await post(url, key, { day: 'x' })).status, 401);
    }
    assert.equal((await post(`${url}/`, apiKey, { day: '2025-05-06', other: 1, limit: null })).status, 200);
  }
});

it('D37: where the store fails, a search gets a 500 with Retry-After', async () => {
  const { apiKey } = await service.addPartner();
  await register(apiKey, { id_number: '66001' });
  await database.query('ALTER TABLE application_events RENAME TO away');
  try {
    const { status, headers } = await search(apiKey, { id_number: '66001' });
    assert.deepEqual([status, headers.get('retry-after')], [500, '1']);
  } finally {
    await database.query('ALTER TABLE away RENAME TO application_events');
  }
  assert.equal((await search(apiKey, { id_number: '66001' })).status, 200);
});
