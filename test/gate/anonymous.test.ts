/** Requests without a valid key cost others little: their answers go at a pace (D2, D21, D37). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { ANSWERS_PER_SECOND, AnonymousPace, AT_ONCE } from '../../src/wire/gate/paced-answers.ts';
import { eventually } from '../support/eventually.ts';
import { remac } from '../support/remac.ts';
import { testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { exchange, head } from './raw.ts';

const time = new TestClock();
const service = await testService({}, { clock: time });
/** So often answers go that wait for the pace. */
const TICK_MS = 25;
/** Each request ends within its nine seconds. */
const MOST_TICKS = 100_000;
const A_TICK = (ANSWERS_PER_SECOND * TICK_MS) / 1_000;
const { apiKey } = await service.addPartner();

/** Lets answers go at their pace until all is over that was begun. */
async function paced<T>(begun: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void begun.then(end, end);
  for (let ticks = 0; !isOver; ticks += 1) {
    assert.ok(ticks < MOST_TICKS, 'what was begun never ends');
    await Promise.race([begun, time.untilTimer(TICK_MS)]);
    if (!isOver) await time.advance(TICK_MS);
  }
  return begun;
}

const unknownKey = () => formatApiKey(null, randomBytes(SECRET_BYTES));

describe('the pace', () => {
  function start() {
    const clock = new TestClock();
    const pace = new AnonymousPace(clock);
    const gone: number[] = [];
    return {
      pace,
      gone,
      ask: (count: number, withinMs = 9_000) => {
        for (let n = 0; n < count; n += 1) pace.wait(clock.monotonicMs() + withinMs, () => gone.push(n));
      },
      clock,
    };
  }

  it('lets a few go at once, and then so many a second, in order', async () => {
    const { ask, gone, clock } = start();
    ask(1_000);
    assert.equal(gone.length, AT_ONCE);
    let before = AT_ONCE;
    for (let ticks = 1; ticks <= 40; ticks += 1) {
      await clock.advance(24);
      assert.equal(gone.length, before);
      await clock.advance(1);
      before = gone.length;
      assert.equal(gone.length, Math.min(AT_ONCE + ticks * ANSWERS_PER_SECOND * 0.025, 1_000));
    }
    assert.deepEqual(
      gone,
      [...gone].sort((a, b) => a - b),
    );
  });

  it('saves nothing up while the process is late', async () => {
    const { ask, gone, clock } = start();
    ask(1_000);
    await clock.stall(5_000);
    assert.equal(gone.length, 2 * AT_ONCE);
  });

  it('never makes an answer later than its deadline', () => {
    const { ask, gone } = start();
    ask(1_000, 500);
    // The others would wait for longer than half a second.
    const waiting = ANSWERS_PER_SECOND / 2 + 1;
    assert.equal(gone.length, 1_000 - waiting);
  });

  it('gives no turn to clients that have left', async () => {
    const { pace, gone, clock } = start();
    const abandoned = Array.from({ length: 20_000 }, () => () => {});
    for (const go of abandoned) if (pace.wait(10_000, go)) pace.leave(go);
    assert.equal(
      pace.wait(10_000, () => gone.push(1)),
      true,
      'the first answers are used up',
    );
    await clock.advance(24);
    assert.deepEqual(gone, []);
    await clock.advance(1);
    assert.deepEqual(gone, [1]);
  });

  it('lets all go at its end, and those after it', () => {
    const { pace, ask, gone } = start();
    ask(500);
    pace.end();
    ask(500);
    assert.equal(gone.length, 1_000);
  });
});

describe('D37: requests without a valid key', () => {
  const KINDS: readonly (readonly [what: string, request: () => string])[] = [
    ['an unknown key', () => head('GET', '/PRO', { 'X-API-Key': unknownKey() })],
    ['a malformed key', () => head('GET', '/PRO', { 'X-API-Key': 'x' })],
    ['no key', () => head('POST', '/DEV', { 'Content-Length': 0 })],
    ['a path that is none', () => head('GET', '/nothing')],
    ['a method that is none', () => head('PUT', '/PRO')],
    ['the documentation', () => head('GET', '/openapi.json')],
    ['the events', () => head('GET', '/PRO/events')],
    ['what is not HTTP', () => 'not HTTP at all\r\n\r\n'],
    ['no Host', () => 'GET /PRO HTTP/1.1\r\n\r\n'],
    ['a header that is none', () => 'GET /PRO HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n'],
    ['a method that the parser does not know', () => head('BREW', '/PRO')],
  ];

  for (const [what, request] of KINDS) {
    it(`${what}: the answers go at the pace, and a valid GET goes before them`, async (t) => {
      const wait = t.mock.method(AnonymousPace.prototype, 'wait');
      // A quiet time before.
      await time.advance(1_000);
      const count = 2 * AT_ONCE;
      let answered = 0;
      const asked = Array.from({ length: count }, async () => {
        const { answers } = await exchange(service.url, [request()]);
        assert.equal(answers.length, 1);
        answered += 1;
      });
      await eventually('all requests', () => wait.mock.callCount() === count);
      const valid = await exchange(service.url, [head('GET', '/PRO', { 'X-API-Key': apiKey })]);
      assert.equal(valid.answers[0]?.status, 200);
      for (let most = AT_ONCE; most < count; most += A_TICK) {
        await eventually(`${most} answers`, () => answered >= most);
        assert.equal(answered, most);
        await time.advance(TICK_MS);
      }
      await Promise.all(asked);
    });
  }

  it('clients that reset their connections take no turns of others', async (t) => {
    const wait = t.mock.method(AnonymousPace.prototype, 'wait');
    const leave = t.mock.method(AnonymousPace.prototype, 'leave');
    // A quiet time before.
    await time.advance(1_000);
    const { hostname, port } = new URL(service.url);
    const sockets = Array.from({ length: 4 * AT_ONCE }, () =>
      connect(Number(port), hostname).on('error', () => {}),
    );
    for (const socket of sockets) socket.write(head('GET', '/PRO'));
    await eventually('all requests', async () => wait.mock.callCount() === sockets.length);
    for (const socket of sockets) socket.resetAndDestroy();
    await eventually('the end of their turns', () => leave.mock.callCount() === sockets.length - AT_ONCE);
    const leftAt = time.monotonicMs();
    await paced(exchange(service.url, [head('GET', '/PRO')]));
    assert.ok(time.monotonicMs() - leftAt <= TICK_MS, 'nobody is before it');
  });

  it('a partner waits for nothing: neither with a 404 nor with a 400 of its own', async (t) => {
    const wait = t.mock.method(AnonymousPace.prototype, 'wait');
    for (const [path, status] of [
      ['/PRO/applications/1', 404],
      ['/PRO/events?after=x', 400],
      ['/PRO', 200],
    ] as const) {
      const { answers } = await exchange(service.url, [head('GET', path, { 'X-API-Key': apiKey })]);
      assert.equal(answers[0]?.status, status);
    }
    assert.equal(wait.mock.callCount(), 0);
    await paced(exchange(service.url, [head('GET', '/PRO', { 'X-API-Key': unknownKey() })]));
    assert.equal(wait.mock.callCount(), 1);
  });

  it('D21: a key that is revoked meanwhile is refused, and one that is made meanwhile is served', async () => {
    const { apiKey: dead, keyId } = await service.addPartner();
    const flood = Array.from({ length: 4 * AT_ONCE }, () =>
      exchange(service.url, [head('GET', '/PRO', { 'X-API-Key': dead.replace(/.$/, 'x') })]),
    );
    const status = async (key: string) =>
      (await paced(exchange(service.url, [head('GET', '/PRO', { 'X-API-Key': key })]))).answers[0]?.status;
    assert.equal(await status(dead), 200);
    await service.database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
    await remac(service);
    assert.equal(await status(dead), 401);
    assert.equal(await status((await service.addPartner()).apiKey), 200);
    await paced(Promise.all(flood));
  });
});
