/** The client's loop over the events, against a peer that makes faults (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as client from '../../client/src/index.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Fate, json, type Seen, startPeer } from './peer.ts';
import { passingTime, rejection } from './support.ts';

const { VentanillaClient } = client;
const bounded = { timeout: PATIENCE_MS };
const NOWHERE = 'http://127.0.0.1:1';
const cursor = (number: number) => `evt_${number}`;
const interested = (number: number) => ({
  id: cursor(number),
  type: 'application.interested',
  timestamp: '2026-11-22T10:00:00.000+00:00',
  data: { id: number, id_number: String(number) },
});

/** A feed with so many events, as the contract has it. `grow` adds events. */
function feed(count: number) {
  let last = count;
  return {
    grow(more: number) {
      last += more;
    },
    answer({ path }: Seen): Fate {
      const query = new URL(path, NOWHERE).searchParams;
      const after = Number((query.get('after') ?? cursor(0)).slice('evt_'.length));
      const upTo = Math.min(last, after + Number(query.get('limit')));
      const events = Array.from({ length: upTo - after }, (_, index) => interested(after + 1 + index));
      return json(200, { events, next: cursor(upTo), has_more: upTo < last });
    },
  };
}

const at = (url: string, changes: Partial<client.ClientOptions> = {}) =>
  new VentanillaClient({ url: `${url}/PRO`, apiKey: 'key', retries: 1, timeoutMs: 60_000, ...changes });

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

it('every event after the cursor comes once, in order, up to the newest', bounded, async () => {
  const peer = await startPeer(NOWHERE, feed(7).answer);
  const numbers = async (options: client.EventsOptions) =>
    (await all(at(peer.url).events(options))).map(({ data }) => data.id);
  assert.deepEqual(await numbers({}), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await numbers({ pageSize: 3, after: null }), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await numbers({ pageSize: 3, after: cursor(4) }), [5, 6, 7]);
  assert.deepEqual(await numbers({ after: cursor(7) }), []);
  assert.deepEqual(
    peer.seen.map(({ method, path }) => `${method} ${path}`),
    [
      'GET /PRO/events?limit=100',
      'GET /PRO/events?limit=3',
      'GET /PRO/events?limit=3&after=evt_3',
      'GET /PRO/events?limit=3&after=evt_6',
      'GET /PRO/events?limit=3&after=evt_4',
      'GET /PRO/events?limit=100&after=evt_7',
    ],
  );
  assert.ok(peer.seen.every(({ headers }) => headers['x-api-key'] === 'key'));
});

it('a page is fetched when the page before is used up', bounded, async () => {
  const peer = await startPeer(NOWHERE, feed(1_000).answer);
  const requests: number[] = [];
  for await (const { data } of at(peer.url).events({ pageSize: 2 })) {
    requests.push(peer.seen.length);
    if (data.id === 5) break;
  }
  assert.deepEqual(requests, [1, 1, 2, 2, 3]);
  assert.equal(peer.seen.length, 3);
});

it('with follow the loop waits at the newest event, and goes on from there', bounded, async () => {
  const events = feed(0);
  const peer = await startPeer(NOWHERE, (seen) => {
    // Something is new at every third request.
    if (seen.number % 3 === 0) events.grow(2);
    return events.answer(seen);
  });
  const clock = new TestClock();
  const got: unknown[] = [];
  const follow = async () => {
    for await (const { data } of at(peer.url, { clock }).events({ follow: true })) {
      got.push(data.id);
      if (got.length === 6) break;
    }
  };
  const following = follow();
  // Of nine requests each has its answer, and then waits ten seconds.
  for (let requests = 1; requests < 9; requests += 1) {
    await eventually(
      'the wait after an answer',
      () => peer.seen.length === requests && clock.nextMs === 10_000,
    );
    await clock.advance(9_999);
    assert.equal(peer.seen.length, requests);
    await clock.advance(1);
  }
  await following;
  assert.deepEqual(got, [1, 2, 3, 4, 5, 6]);
  assert.equal(peer.seen.length, 9);
});

it('D37: after faults of service and network no event is lost or doubled', bounded, async () => {
  const faults: Fate[] = ['close', json(500, { error: 'x' }, { 'Retry-After': '1' }), 'hang', json(503, {})];
  const events = feed(40);
  const time = passingTime(15_000);
  const peer = await startPeer(
    NOWHERE,
    (seen) =>
      seen.number % 2 === 1 ? (faults[(seen.number - 1) / 2] ?? events.answer(seen)) : events.answer(seen),
    time.inVain,
  );
  const retries: client.Retry[] = [];
  const onRetry = (retry: client.Retry) => {
    retries.push(retry);
    time.onRetry(retry);
  };
  const got = await all(at(peer.url, time.options).events({ pageSize: 10, onRetry }));
  assert.deepEqual(
    got.map(({ data }) => data.id),
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  assert.equal(retries.length, faults.length);
  assert.equal(retries[1]?.delayMs, 1_000);
});

it('every refusal has its class, and only a temporary one is retried', bounded, async () => {
  const cases: [fate: Fate, type: new (...args: never[]) => client.VentanillaError, attempts: number][] = [
    [json(400, { error: 'after must be a cursor' }), client.RequestRefusedError, 1],
    [json(401, { error: 'x' }), client.AuthenticationError, 1],
    [json(404, { error: 'x' }), client.RequestRefusedError, 1],
    [json(410, { error: 'x' }), client.CursorExpiredError, 1],
    [json(500, { error: 'x' }), client.ServiceUnavailableError, 2],
    ['close', client.NetworkError, 2],
    ['hang', client.NetworkError, 2],
    [{ status: 200, body: '<html>' }, client.ResponseError, 2],
    [json(200, []), client.ResponseError, 1],
    [json(200, { events: [], next: 'evt_0' }), client.ResponseError, 1],
    [json(200, { events: [], next: 'evt_0', has_more: true }), client.ResponseError, 1],
    [json(200, { events: [interested(1)], has_more: false }), client.ResponseError, 1],
    [json(200, { events: [{ type: 'x' }], next: 'evt_0', has_more: false }), client.ResponseError, 1],
  ];
  await Promise.all(
    cases.map(async ([fate, type, attempts]) => {
      const time = passingTime(15_000);
      const { onRetry } = time;
      const peer = await startPeer(NOWHERE, () => fate, time.inVain);
      const error = await rejection(
        type,
        all(at(peer.url, time.options).events({ after: 'evt_secret', onRetry })),
      );
      assert.equal(error.name, type.name);
      assert.equal(peer.seen.length, attempts, JSON.stringify(fate));
      assert.doesNotMatch(error.message, /secret/);
    }),
  );
  const peer = await startPeer(NOWHERE, () => json(410, { error: 'gone' }));
  const error = await rejection(client.RequestRefusedError, all(at(peer.url).events()));
  assert.equal(error.status, 410);
});

it('an abort ends the loop at once: between events, while it waits, during a request', bounded, async () => {
  const full = await startPeer(NOWHERE, feed(2).answer);
  const silent = await startPeer(NOWHERE, () => 'hang');
  const reason = new Error('enough');
  const loopOver = (url: string) => {
    const stop = new AbortController();
    const options = { follow: true, pollMs: 600_000, signal: stop.signal };
    return { stop, loop: at(url, { timeoutMs: 600_000 }).events(options) };
  };

  const between = loopOver(full.url);
  await between.loop.next();
  between.stop.abort(reason);
  assert.equal((await rejection(client.AbortedError, between.loop.next())).cause, reason);

  const waiting = loopOver(full.url);
  await waiting.loop.next();
  await waiting.loop.next();
  const afterWait = rejection(client.AbortedError, waiting.loop.next());
  waiting.stop.abort(reason);
  assert.equal((await afterWait).cause, reason);

  const asking = loopOver(silent.url);
  const afterRequest = rejection(client.AbortedError, asking.loop.next());
  await eventually('the request', () => silent.underWay > 0);
  asking.stop.abort(reason);
  assert.equal((await afterRequest).cause, reason);
});

it('wrong arguments, and the sandbox, are refused before anything is sent', async () => {
  const peer = await startPeer(NOWHERE, () => 'close');
  for (const options of [
    { pageSize: 0 },
    { pageSize: 501 },
    { pageSize: 1.5 },
    { pollMs: 0 },
    { pollMs: 2 ** 31 },
  ]) {
    assert.throws(() => at(peer.url).events(options), RangeError);
  }
  for (const id of [0, 1.5, '1' as unknown as number])
    await rejection(RangeError, at(peer.url).application(id));
  for (const end of ['/DEV', '/DEV/']) {
    const sandbox = new VentanillaClient({ url: `${peer.url}${end}`, apiKey: 'key' });
    assert.throws(() => sandbox.events(), TypeError);
  }
  assert.equal(peer.seen.length, 0);
});

it('a slash at the end of the URL changes nothing', bounded, async () => {
  const peer = await startPeer(NOWHERE, feed(0).answer);
  await all(new VentanillaClient({ url: `${peer.url}/PRO/`, apiKey: 'key' }).events());
  assert.equal(peer.seen[0]?.path, '/PRO/events?limit=100');
});
