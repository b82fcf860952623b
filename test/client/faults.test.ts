/** A faulty network and a faulty peer: retries, and the class of each failure (D15, D36, D37). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inspect } from 'node:util';
import * as client from '../../client/src/index.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Fate, json, startPeer } from './peer.ts';
import { anInput, brief, inputs, passingTime, rejection, stored } from './support.ts';

const { VentanillaClient } = client;
const service = await testService();
const bounded = { timeout: PATIENCE_MS };
/** The time of one attempt by the client's own clock. */
const TIMEOUT_MS = 15_000;
const HTML = {
  status: 200,
  headers: { 'Content-Type': 'text/html' },
  body: '<html>Sign in to the guest network</html>',
};

it('D36: every applicant is registered once, with any fault in the first attempts', bounded, async () => {
  const firsts: [what: string, fates: Fate[]][] = [
    ['the answer lost after the registration', ['lose']],
    ['lost twice', ['lose', 'lose']],
    ['the answer cut off', ['truncate']],
    ['the connection closed before', ['close']],
    ['no answer in time', ['hang']],
    ['no whole answer in time', ['stall']],
    ['a 500', [json(500, { error: 'temporary internal error; retry' })]],
    [
      'a 502 page of a proxy',
      [{ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>Bad gateway' }],
    ],
    ['somebody else with 200', [HTML]],
    ['one after another', ['close', 'lose', json(503, {})]],
  ];
  await Promise.all(
    firsts.map(async ([what, fates]) => {
      const { apiKey, partnerId } = await service.addPartner();
      const time = passingTime(TIMEOUT_MS);
      const peer = await startPeer(service.url, ({ number }) => fates[number - 1] ?? 'forward', time.inVain);
      const retries: client.Retry[] = [];
      const options = { url: `${peer.url}/PRO`, apiKey, retries: 3, ...time.options };
      const list = [...inputs(3), ...inputs(3, { phone: null })];
      const outcomes = await new VentanillaClient(options).submit(list, {
        onRetry: (retry) => {
          retries.push(retry);
          time.onRetry(retry);
        },
      });
      assert.deepEqual(
        brief(outcomes),
        list.map(({ id_number }) => `registered ${id_number}`),
        what,
      );
      assert.equal(await stored(service.database, partnerId), list.length, what);
      assert.deepEqual(
        retries.map(({ attempt }) => attempt),
        fates.map((_, index) => index + 1),
        what,
      );
      const sent = peer.seen.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`);
      assert.equal(sent.length, fates.length + 1, what);
      assert.equal(new Set(sent).size, 1, `${what}: the same bytes under the same key`);
    }),
  );
});

it('every failure has its class, and only a temporary one is retried', bounded, async () => {
  const ok = { processed: 0, errors: 0, results: [] };
  const cases: [what: string, fate: Fate, type: new (...args: never[]) => Error, attempts: number][] = [
    ['401', json(401, { error: 'API key invalid or absent' }), client.AuthenticationError, 1],
    ...[400, 403, 404, 405, 413].map(
      (status) =>
        [`${status}`, json(status, {}), client.RequestRefusedError, 1] as [string, Fate, never, number],
    ),
    ...[408, 429, 500, 502, 503, 504].map(
      (status) =>
        [`${status}`, json(status, {}), client.ServiceUnavailableError, 2] as [string, Fate, never, number],
    ),
    ['closed', 'close', client.NetworkError, 2],
    ['too late', 'hang', client.NetworkError, 2],
    ['too late within the answer', 'stall', client.NetworkError, 2],
    ['cut off', 'truncate', client.ResponseError, 2],
    ['HTML', HTML, client.ResponseError, 2],
    ['nothing', { status: 200 }, client.ResponseError, 2],
    ['204', { status: 204 }, client.ResponseError, 1],
    ['301', { status: 301, headers: { Location: '/DEV' } }, client.ResponseError, 1],
    ['307', { status: 307, headers: { Location: `${service.url}/DEV` } }, client.ResponseError, 1],
    ['another JSON', json(200, { hello: 'world' }), client.ResponseError, 1],
    ['null', json(200, null), client.ResponseError, 1],
    ['no outcome', json(200, ok), client.ResponseError, 1],
    ['wrong counts', json(200, { ...ok, processed: 1 }), client.ResponseError, 1],
  ];
  const { apiKey } = await service.addPartner();
  await Promise.all(
    cases.map(async ([what, fate, type, attempts]) => {
      const time = passingTime(TIMEOUT_MS);
      const { onRetry } = time;
      const peer = await startPeer(service.url, () => fate, time.inVain);
      const options = { url: `${peer.url}/DEV`, apiKey, retries: 1, ...time.options };
      const error = await rejection(type, new VentanillaClient(options).submit([anInput()], { onRetry }));
      assert.ok(error instanceof client.VentanillaError, what);
      assert.equal(error.name, type.name, what);
      assert.equal(peer.seen.length, attempts, what);
      if ('status' in error) assert.equal(error.status, Number(what));
    }),
  );
});

it('D37: an attempt ends at its limit and not before, and the next one after its wait', bounded, async () => {
  const clock = new TestClock();
  const { apiKey } = await service.addPartner();
  const peer = await startPeer(service.url, ({ number }) => (number === 1 ? 'hang' : 'forward'));
  const retries: client.Retry[] = [];
  const options = { url: `${peer.url}/DEV`, apiKey, timeoutMs: 2_000, clock };
  const call = new VentanillaClient(options).submit([anInput()], { onRetry: (retry) => retries.push(retry) });
  await eventually('the first attempt', () => peer.seen.length === 1);
  await clock.advance(1_999);
  assert.equal(retries.length, 0);
  await clock.advance(1);
  assert.equal(retries.length, 1);
  const { delayMs } = retries[0]!;
  assert.ok(delayMs >= 250 && delayMs <= 500);
  await clock.advance(Math.floor(delayMs));
  assert.equal(peer.seen.length, 1);
  await clock.advance(1);
  assert.equal((await call).length, 1);
  assert.equal(peer.seen.length, 2);
  assert.equal(clock.timers, 0);
});

it('a failed connection is a NetworkError that names the reason', bounded, async () => {
  const unused = new VentanillaClient({ url: 'http://127.0.0.1:1/PRO', apiKey: 'key', retries: 0 });
  const refusing = new VentanillaClient({
    url: 'https://example.invalid/PRO',
    apiKey: 'key',
    retries: 0,
    fetch: () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
  });
  await rejection(client.NetworkError, unused.quota());
  assert.equal((await rejection(client.NetworkError, refusing.quota())).message, 'no answer (ECONNREFUSED)');
});

it('D37: the client waits as long as Retry-After says', bounded, async () => {
  const { apiKey } = await service.addPartner();
  const clock = new TestClock();
  const cases: [value: string, least: number, most: number][] = [
    ['2', 2_000, 2_000],
    [new Date(clock.nowMs() + 3_600_000).toUTCString(), 60_000, 60_000],
    [new Date(clock.nowMs() + 7_000).toUTCString(), 7_000, 7_000],
    ['86400', 60_000, 60_000],
    ['rubbish', 250, 500],
  ];
  for (const [value, least, most] of cases) {
    // The answer says no time, so a date is compared with the client's own.
    const headers = { 'Retry-After': value, Date: 'whenever' };
    const peer = await startPeer(service.url, () => json(500, {}, headers));
    const controller = new AbortController();
    const call = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, clock }).submit([anInput()], {
      signal: controller.signal,
      onRetry: ({ delayMs, error }) => {
        assert.ok(delayMs >= least && delayMs <= most, `${value}: ${delayMs}`);
        assert.ok(error instanceof client.ServiceUnavailableError);
        controller.abort();
      },
    });
    await rejection(client.AbortedError, call);
  }
});

it('a redirect is not followed, so no other server gets the key', bounded, async () => {
  const { apiKey } = await service.addPartner();
  const elsewhere = await startPeer(service.url, () => 'forward');
  for (const status of [301, 302, 303, 307, 308]) {
    const peer = await startPeer(service.url, () => ({
      status,
      headers: { Location: `${elsewhere.url}/DEV` },
    }));
    const error = await rejection(
      client.ResponseError,
      new VentanillaClient({ url: `${peer.url}/DEV`, apiKey }).submit([anInput()]),
    );
    assert.match(error.message, /redirects/);
  }
  assert.equal(elsewhere.seen.length, 0);
});

it('neither errors nor the client show the API key or the applicants', bounded, async () => {
  const { apiKey } = await service.addPartner();
  const input = anInput({ name: 'Secreta Persona', id_number: '9876501234', phone: '+573009998877' });
  const fates: Fate[] = [
    ...[400, 401, 500].map((status) => json(status, { error: `you sent X-API-Key: ${apiKey}` })),
    json(200, { processed: 1, errors: 0, results: [{ ...input, id: input.name, apiKey }] }),
    { status: 502, body: `<html>${apiKey} ${input.name}</html>` },
    'close',
    'hang',
  ];
  const failing: typeof fetch = (url, init) =>
    Promise.reject(
      Object.assign(new Error(`${apiKey} ${input.name}`), { code: apiKey, cause: { url, init } }),
    );
  const errors: Error[] = [];
  for (const fate of fates) {
    const time = passingTime(TIMEOUT_MS);
    const peer = await startPeer(service.url, () => fate, time.inVain);
    const options = { url: `${peer.url}/PRO`, apiKey, retries: 0, ...time.options };
    errors.push(await rejection(client.VentanillaError, new VentanillaClient(options).submit([input])));
  }
  const broken = new VentanillaClient({ url: `${service.url}/PRO`, apiKey, retries: 0, fetch: failing });
  errors.push(await rejection(client.VentanillaError, broken.submit([input])));
  errors.push(await rejection(client.AbortedError, broken.submit([input], { signal: AbortSignal.abort() })));
  try {
    new VentanillaClient({ url: `${service.url}/PRO`, apiKey: `${apiKey}\n` });
  } catch (error) {
    errors.push(error as Error);
  }
  assert.equal(errors.length, fates.length + 3);
  for (const value of [broken, ...errors]) {
    const texts = [String(value), JSON.stringify(value), inspect(value, { depth: 9, getters: false })];
    if (value instanceof Error) texts.push(value.message, value.stack ?? '');
    for (const text of texts) {
      for (const secret of [apiKey, input.name, input.id_number, '573009998877']) {
        assert.ok(!text.includes(secret), value.constructor.name);
      }
    }
  }
});

it('an error quotes the text of a refusal', bounded, async () => {
  const { apiKey } = await service.addPartner();
  const unknown = new VentanillaClient({ url: `${service.url}/DEV`, apiKey: `${apiKey.slice(0, -1)}_` });
  const error = await rejection(client.AuthenticationError, unknown.quota());
  assert.match(error.message, /API key invalid or absent$/);
});

it('invalid options are refused, and no request is made', () => {
  const good = { url: 'https://host.example/PRO', apiKey: 'key' };
  const wrong: [changes: object, type: ErrorConstructor][] = [
    [{ url: 'host/PRO' }, TypeError],
    [{ url: 'ftp://host/PRO' }, TypeError],
    [{ url: 'https://user:password@host/PRO' }, TypeError],
    [{ url: 'https://host' }, TypeError],
    [{ url: 'https://host/api/v1/' }, TypeError],
    [{ url: 'https://host/pro' }, TypeError],
    [{ apiKey: '' }, TypeError],
    [{ apiKey: undefined }, TypeError],
    [{ apiKey: 'a key' }, TypeError],
    [{ concurrency: 0 }, RangeError],
    [{ concurrency: 1.5 }, RangeError],
    [{ retries: -1 }, RangeError],
    [{ timeoutMs: 0 }, RangeError],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, RangeError],
  ];
  new VentanillaClient(good);
  for (const [changes, type] of wrong) {
    assert.throws(() => new VentanillaClient({ ...good, ...changes }), type, JSON.stringify(changes));
  }
});

it('D36: another body under a used key is refused, not retried', bounded, async () => {
  const { apiKey } = await service.addPartner();
  const ventanilla = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
  const [first, second] = [anInput({ phone: null }), anInput({ phone: null })];
  const [once] = await ventanilla.submitBatch([first], { idempotencyKey: 'one' });
  assert.deepEqual(await ventanilla.submitBatch([first], { idempotencyKey: 'one' }), [once]);
  const error = await rejection(
    client.RequestRefusedError,
    ventanilla.submitBatch([second], { idempotencyKey: 'one' }),
  );
  assert.equal(error.status, 400);
  const { status } = await post(
    `${service.url}/PRO`,
    apiKey,
    { applications: [second] },
    { 'Idempotency-Key': 'one' },
  );
  assert.equal(status, 400);
});
