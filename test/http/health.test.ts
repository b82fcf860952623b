/**
 * The listeners of operators and of probes. No cache keeps an answer, and no browser guesses its type
 * (docs/front-door.md).
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { type Health, healthApi } from '../../src/listeners/ops/health-api.ts';
import { exchange, head } from '../gate/raw.ts';
import { TestClock } from '../support/test-clock.ts';

async function listening(
  health: Partial<Health>,
  addPages: (app: ReturnType<typeof healthApi>) => void = () => {},
  clock: Clock = machineClock,
) {
  const app = healthApi({ alive: () => true, ready: async () => true, ...health }, clock);
  addPages(app);
  after(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const url = await listening({}, (app) =>
  app.get('/fails', async () => {
    throw new Error('on purpose');
  }),
);

const REQUESTS: [what: string, request: string, status: number][] = [
  ['the process lives', head('GET', '/healthz'), 200],
  ['it is ready', head('GET', '/readyz'), 200],
  ['an unknown page', head('GET', '/nothing'), 404],
  ['a method that no page allows', head('DELETE', '/healthz', { 'Content-Length': 0 }), 404],
  ['a path with a broken escape', head('GET', '/%zz'), 404],
  ['a page that fails', head('GET', '/fails'), 500],
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['two hosts', head('GET', '/healthz', { host: 'other' }), 400],
];

for (const [what, request, status] of REQUESTS) {
  it(`${what}: the answer has the headers`, async () => {
    const { answers } = await exchange(url, [request]);
    assert.equal(answers[0]?.status, status);
    assert.equal(answers[0]?.headers['x-content-type-options'], 'nosniff');
    assert.equal(answers[0]?.headers['cache-control'], 'no-store');
  });
}

describe('health', () => {
  it('a process whose event loop stands still is not alive', async () => {
    const response = await fetch(`${await listening({ alive: () => false })}/healthz`);
    assert.equal(response.status, 503);
    assert.deepEqual(await response.json(), { status: 'stuck' });
  });

  it('a service whose check of the database fails is not ready', async () => {
    const ready = () => Promise.reject(new Error('no database for hunter2'));
    const response = await fetch(`${await listening({ ready })}/readyz`);
    assert.equal(response.status, 503);
    assert.deepEqual(await response.json(), { status: 'not_ready' });
  });

  it('/readyz answers in time where the database hangs, and /healthz does not ask the database', async () => {
    const clock = new TestClock();
    const hanging = await listening({ ready: () => new Promise(() => {}) }, undefined, clock);
    let isAnswered = false;
    const asked = exchange(hanging, [head('GET', '/readyz')]).finally(() => {
      isAnswered = true;
    });
    await clock.untilTimer(1_500);
    await clock.advance(1_499);
    assert.equal(isAnswered, false);
    await clock.advance(1);
    assert.equal((await asked).answers[0]?.status, 503);
    assert.equal((await fetch(`${hanging}/healthz`)).status, 200);
  });

  it('probes at the same time share one query of the database', async () => {
    const clock = new TestClock();
    const found = Promise.withResolvers<boolean>();
    let looks = 0;
    const ready = () => {
      looks += 1;
      return found.promise;
    };
    const shared = await listening({ ready }, undefined, clock);
    const probe = async () => (await fetch(`${shared}/readyz`)).status;
    const probes = Array.from({ length: 20 }, probe);
    // Of each probe the time in which it is answered.
    await clock.untilTimer(1_500, 20);
    assert.equal(looks, 1);
    found.resolve(true);
    assert.deepEqual([...new Set(await Promise.all(probes))], [200]);
    assert.equal(await probe(), 200);
    assert.equal(looks, 2);
  });
});
