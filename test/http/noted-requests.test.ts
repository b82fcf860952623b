/** What is noted of partners' requests, and how it is read by X-Request-Id (docs/operators.md, "Requests"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestIds } from '../../src/listeners/partner/request-id.ts';
import { partnerRoutes } from '../../src/subjects/partners/routes/partners.ts';
import { forgetRequests } from '../../src/subjects/partners/sql/requests.ts';
import { type NotedRequest, RequestLog } from '../../src/subjects/partners/uses/request-log.ts';
import { startTestConsole } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';

const WRITE_AFTER_MS = 1_000;
const clock = new TestClock();
const service = await testService({}, { clock });
const { database } = service;
const site = await startTestConsole(service, partnerRoutes(service, []));
const admin = await (await site.enrolled('ana', 'admin')).signIn();

const asked = async (partnerId: number, query = '') =>
  (await admin.ask('GET', `/api/partners/${partnerId}/requests?${query}`)).body;
/** The noted requests of a partner, when there are so many. */
const noted = (partnerId: number, count: number) =>
  eventually('the notes', async () => {
    await clock.advance(WRITE_AFTER_MS);
    const { requests } = await asked(partnerId);
    return requests.length >= count && requests;
  });

test('a batch is found by its X-Request-Id with outcomes and broken rules, and nothing that it sent', async () => {
  const { apiKey, keyId, partnerId } = await service.addPartner({ dailyCap: 2 });
  const [one, two, three] = [anApplication(), anApplication(), anApplication()];
  const faulty = { ...anApplication(), income: 'much', city: undefined };
  const applications = [one, one, two, three, faulty, { ...faulty, city: 'Cali' }, 'nobody'];
  const key = { 'Idempotency-Key': 'once' };
  const ids: string[] = [];
  const remember = ({ headers }: { headers: Headers }) => ids.unshift(headers.get('X-Request-Id')!);
  for (const _ of [1, 2]) remember(await post(`${service.url}/PRO`, apiKey, { applications }, key));
  remember(await post(`${service.url}/DEV`, apiKey, { applications: [one] }));
  remember(await post(`${service.url}/PRO`, apiKey, { applications: [] }));
  remember(
    await fetch(`${service.url}/PRO/applications/77?${one.phone}`, { headers: { 'X-API-Key': apiKey } }),
  );
  const requests = await noted(partnerId, 5);
  assert.deepEqual(
    requests.map((request: { request_id: string }) => request.request_id),
    ids,
  );
  const told = requests.map(({ at, duration_ms, request_id, ...rest }: Record<string, unknown>) => {
    assert.ok(Math.abs(Date.parse(`${at}`) - Date.now()) < 600_000);
    assert.ok(Number.isInteger(duration_ms));
    return rest;
  });
  const batch = {
    ...{ key_id: keyId, method: 'POST', route: '/PRO', status: 200, problem: null, elements: 7 },
    outcomes: { registered: 2, duplicate: 1, over_quota: 1, invalid: 2, not_an_object: 1 },
    errors: [
      { field: 'city', code: 'required', elements: 1 },
      { field: 'income', code: 'amount', elements: 2 },
    ],
  };
  const none = { replayed: false, elements: null, outcomes: null, errors: [] };
  const byField = (all: { field: string }[]) => all.toSorted((a, b) => (a.field < b.field ? -1 : 1));
  assert.deepEqual(
    told.map((request: { errors: { field: string }[] }) => ({ ...request, errors: byField(request.errors) })),
    [
      {
        ...{ key_id: keyId, method: 'GET', route: '/PRO/applications/:id', status: 404 },
        ...{ problem: 'not_found', ...none },
      },
      { ...{ key_id: keyId, method: 'POST', route: '/PRO', status: 400, problem: 'empty_batch' }, ...none },
      {
        ...{ ...batch, route: '/DEV', replayed: false, elements: 1, errors: [] },
        outcomes: { registered: 1, duplicate: 0, over_quota: 0, invalid: 0, not_an_object: 0 },
      },
      { ...batch, replayed: true },
      { ...batch, replayed: false },
    ],
  );
  const [found] = (await asked(partnerId, `request_id=${ids.at(-1)}`)).requests;
  assert.deepEqual(found, requests.at(-1));
  const { rows } = await database.query('SELECT to_jsonb(r)::text AS row FROM partner_requests r');
  const stored = rows.map(({ row }) => row).join('\n');
  for (const { name, id_number, phone, city } of [one, two, three])
    for (const value of [name, id_number, phone, city, apiKey])
      assert.ok(!stored.includes(`${value}`), `${value}`);
  const { keys } = (await admin.ask('GET', `/api/partners/${partnerId}`)).body;
  assert.ok(Date.parse(keys[0].last_used_at) > 0);
});

test('each page has other requests, the newest first, and none of another partner', async () => {
  const [one, other] = [await service.addPartner({}), await service.addPartner({})];
  const get = ({ apiKey }: { apiKey: string }) =>
    fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  const ids: string[] = [];
  for (let sent = 0; sent < 5; sent += 1) ids.unshift((await get(one)).headers.get('X-Request-Id')!);
  const foreign = (await get(other)).headers.get('X-Request-Id')!;
  await noted(one.partnerId, 5);
  await noted(other.partnerId, 1);
  for (const limit of [1, 2, 5]) {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await asked(one.partnerId, `limit=${limit}${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.requests.map((request: { request_id: string }) => request.request_id));
      cursor = page.next;
    }
    assert.deepEqual(seen, ids);
  }
  assert.deepEqual(await asked(one.partnerId, `request_id=${foreign}`), { requests: [], next: null });
  assert.equal((await admin.ask('GET', '/api/partners/99999/requests')).status, 404);
});

test('the ids of requests are UUIDs of version 7 in their order, also where the clock steps back or many come at once', () => {
  const own = { now: 1_764_000_000_000, nowMs: () => own.now };
  const next = requestIds(own);
  const ids = Array.from({ length: 10_000 }, (_, at) => {
    own.now += at === 5_000 ? -3_600_000 : at % 7 === 0 ? 1 : 0;
    return next();
  });
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(ids, [...new Set(ids)].sort());
});

test('without a valid key nothing is noted', async () => {
  const before = (await database.query('SELECT count(*) FROM partner_requests')).rows;
  await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': `vtn_pro_${'0'.repeat(48)}` } });
  await fetch(`${service.url}/PRO`);
  await clock.advance(WRITE_AFTER_MS);
  assert.deepEqual((await database.query('SELECT count(*) FROM partner_requests')).rows, before);
});

const request = (partnerId: number, number: number) =>
  ({
    requestId: `0198f0a0-0000-7000-8000-${`${number}`.padStart(12, '0')}`,
    ...{ partnerId, keyId: 1, method: 'GET', route: '/PRO', status: 200, ms: 1 },
    ...{ problem: null, replayed: false, counts: null, faults: null },
  }) as unknown as NotedRequest;

/** A log of its own whose writes succeed only with the store. */
function ownLog(pool = database) {
  const [left, errors]: [number[], unknown[]] = [[], []];
  const own = new TestClock();
  const log = new RequestLog(pool, {
    clock: own,
    onLeftOut: (requests) => left.push(requests),
    onError: (error) => errors.push(error),
  });
  const note = (partnerId: number, number: number) => {
    const one = request(partnerId, number);
    if (log.hasRoom(one.partnerId, one.keyId)) log.add(one);
  };
  return { log, note, left, errors };
}

const countOf = async (partnerId: number): Promise<number> =>
  Number(
    (await database.query('SELECT count(*) FROM partner_requests WHERE partner_id = $1', [partnerId])).rows[0]
      .count,
  );

test('a flood of one partner leaves room for another, and what has no room is counted', async () => {
  const [flooding, quiet] = [await service.addPartner({}), await service.addPartner({})];
  const { log, note, left, errors } = ownLog();
  for (let number = 0; number < 700; number += 1) note(flooding.partnerId, number);
  note(quiet.partnerId, 700);
  await log.stop();
  assert.deepEqual(
    [await countOf(flooding.partnerId), await countOf(quiet.partnerId), left, errors],
    [500, 1, [200], []],
  );
});

test('a write that fails leaves its requests out, and the next one is written', async () => {
  const { partnerId } = await service.addPartner({});
  let isDown = true;
  const pool = {
    query: (of: string) => (isDown ? Promise.reject(new Error('down')) : database.query(of)),
  };
  const { log, note, left, errors } = ownLog(pool as unknown as typeof database);
  note(partnerId, 1);
  await log.stop();
  isDown = false;
  note(partnerId, 2);
  await log.stop();
  assert.deepEqual([await countOf(partnerId), left, errors.length], [1, [1], 1]);
});

test('a request stays seven days by both clocks, and the newest of a partner stay (D39)', async () => {
  const { partnerId } = await service.addPartner({});
  const { log, note } = ownLog();
  for (let number = 1; number <= 6; number += 1) note(partnerId, number);
  await log.stop();
  const old = async (column: string, change: string, count: number) =>
    database.query(
      `UPDATE partner_requests SET ${column} = ${column} - ${change} WHERE request_id IN (
         SELECT request_id FROM partner_requests WHERE partner_id = $1 ORDER BY request_id LIMIT $2) AND partner_id = $1`,
      [partnerId, count],
    );
  await old('at', "interval '8 days'", 3);
  await forgetRequests(database);
  assert.equal(await countOf(partnerId), 6, 'the elapsed time has not passed');
  await old('stored_ms', '8 * 86400000', 2);
  await forgetRequests(database);
  assert.equal(await countOf(partnerId), 4);
  await forgetRequests(database, 3);
  const { requests } = await asked(partnerId);
  assert.deepEqual(
    requests.map((one: { request_id: string }) => Number(one.request_id.slice(-1))),
    [6, 5, 4],
  );
});
