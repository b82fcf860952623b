/** D37: connections without a valid key give way, so that they keep no partner out. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { GivingWay } from '../../src/wire/gate/giving-way.ts';
import { eventually } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { exchange, head } from './raw.ts';

/** A few places, so that a crowd of more costs little. The rules know the number by the limit alone. */
const MOST = 64;
/** The time of the service, and of the crowd. */
const time = new TestClock();
const service = await testService(
  {},
  { clock: time, limits: { ...PARTNER_LIMITS, connections: { ...PARTNER_LIMITS.connections, all: MOST } } },
);
const { apiKey } = await service.addPartner();
const unknownKey = () => formatApiKey(null, randomBytes(SECRET_BYTES));
/** More than the listener takes. */
const MANY = MOST + 32;

/** A connection too many is told after a moment, by a timer that rings so often. */
const TURNED_AWAY_MS = 750;
const TURNED_AWAY_TICK_MS = 50;

interface Crowd {
  bytes(): string;
  localAddress?(index: number): string;
  readonly reads?: boolean;
  /** Sends the bytes again after each answer. */
  readonly repeats?: boolean;
}

/** Holds `MANY` connections, each with these bytes. A connection that the service closes is opened again. */
function gather({ bytes, localAddress = () => '127.0.0.1', reads = true, repeats = false }: Crowd) {
  const { port } = new URL(service.url);
  const sockets = new Set<Socket>();
  const told = new Set<string>();
  let connected = 0;
  let isOver = false;
  const open = (index: number) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: localAddress(index) });
    sockets.add(socket);
    socket.on('connect', () => {
      connected += 1;
      socket.write(bytes());
    });
    if (reads) {
      socket.on('data', (chunk) => {
        const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1];
        if (status === undefined) return;
        told.add(status);
        if (repeats) socket.write(bytes());
      });
    }
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      // With a pause, as the crowd is in one process with the service.
      time.after(1_000, () => !isOver && open(index));
    });
  };
  for (let index = 0; index < MANY; index += 1) open(index);
  const leave = () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
  after(leave);
  return { told, leave, full: () => eventually('all connections', () => connected >= MANY) };
}

const unknown = () => head('GET', '/PRO', { 'X-API-Key': unknownKey() });
const CROWDS: readonly (Crowd & {
  readonly what: string;
  /** What a client reads whose connection gave way. */
  readonly told?: string;
})[] = [
  { what: 'ask with unknown keys, again and again', bytes: unknown, repeats: true, told: '401' },
  {
    what: 'ask with unknown keys from many addresses',
    bytes: unknown,
    localAddress: (index) => `127.0.${index % 200}.7`,
    told: '401',
  },
  {
    what: 'send bodies with unknown keys, not to their end',
    bytes: () => `${head('POST', '/PRO', { 'X-API-Key': unknownKey(), 'Content-Length': 1_000 })}[{`,
    told: '401',
  },
  {
    what: 'send chunks without a key',
    bytes: () => `${head('POST', '/DEV', { 'Transfer-Encoding': 'chunked' })}1\r\n[\r\n`,
    told: '401',
  },
  { what: 'ask many times at once', bytes: () => unknown().repeat(50), told: '401' },
  {
    what: 'send a part of a head, with a valid key',
    bytes: () => `GET /PRO HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\n`,
    told: '500',
  },
  { what: 'send nothing', bytes: () => '', told: '500' },
  { what: 'send what is not HTTP', bytes: () => 'not HTTP\r\n\r\n', told: '400' },
  { what: 'read no answer', bytes: () => head('GET', '/openapi.json').repeat(20), reads: false },
];

describe('who gives way', () => {
  function start() {
    const clock = new TestClock();
    const gone: string[] = [];
    const make = (name: string) => ({
      destroyed: false,
      giveWay: () => void gone.push(name),
      destroy() {
        this.destroyed = true;
        gone.push(`${name}, closed`);
      },
    });
    return {
      gone,
      make,
      givingWay: new GivingWay<ReturnType<typeof make>>(clock),
      pass: (ms: number) => clock.advance(ms),
    };
  }

  it('first an answer that waits, then who is late to show a key, then the idle; the oldest of each', async () => {
    const { gone, make, givingWay, pass } = start();
    givingWay.idle(make('idle 1'));
    givingWay.idle(make('idle 2'));
    givingWay.unknown(make('unknown 1'));
    givingWay.unknown(make('unknown 2'));
    await pass(1_000);
    givingWay.answered(make('answered 1'), () => void gone.push('answer 1'));
    givingWay.answered(make('answered 2'), () => void gone.push('answer 2'));
    for (let n = 0; n < 6; n += 1) assert.equal(givingWay.makeRoom(), true);
    assert.equal(givingWay.makeRoom(), false);
    assert.deepEqual(gone, ['answer 1', 'answer 2', 'unknown 1', 'unknown 2', 'idle 1', 'idle 2']);
    assert.equal(givingWay.told, 6);
  });

  it('nobody in the first moment, and nobody whose key is known', async () => {
    const { gone, make, givingWay, pass } = start();
    const known = make('known');
    givingWay.unknown(known);
    assert.equal(givingWay.keep(known), true);
    givingWay.idle(make('idle'));
    await pass(750);
    givingWay.unknown(make('new'));
    await pass(249);
    assert.equal(givingWay.makeRoom(), false);
    await pass(1);
    for (let n = 0; n < 3; n += 1) givingWay.makeRoom();
    assert.deepEqual(gone, ['new', 'idle']);
  });

  it('a connection that gave way, or is closed, is known no more', async () => {
    const { make, givingWay, pass } = start();
    const told = make('told');
    givingWay.idle(told);
    await pass(1_000);
    assert.equal(givingWay.makeRoom(), true);
    givingWay.idle(told);
    assert.equal(givingWay.keep(told), false);
    const closed = make('closed');
    closed.destroyed = true;
    givingWay.idle(closed);
    await pass(1_000);
    assert.equal(givingWay.makeRoom(), false);
    givingWay.forget(told);
    assert.equal(givingWay.told, 0);
  });

  it('few that gave way are open at once: the oldest of them is closed for one more', async () => {
    const { gone, make, givingWay, pass } = start();
    for (let n = 0; n < 600; n += 1) givingWay.idle(make(`${n}`));
    await pass(1_000);
    for (let n = 0; n < 600; n += 1) givingWay.makeRoom();
    assert.deepEqual(gone.filter((name) => name.endsWith('closed')).length, 600 - 512);
    assert.equal(gone.indexOf('0, closed') > 0, true);
  });
});

describe('D37: a partner is served while more connections than the listener takes', () => {
  for (const { what, told: expected, ...crowd } of CROWDS) {
    it(what, async (t) => {
      const makeRoom = t.mock.method(GivingWay.prototype, 'makeRoom');
      const { full, leave, told } = gather(crowd);
      await full();
      const body = JSON.stringify({ applications: [{}] });
      const headers = {
        'X-API-Key': apiKey,
        'Content-Type': 'application/json',
        'Content-Length': body.length,
      };
      const request = head('POST', '/PRO', headers) + body;
      for (let round = 0; round < 3; round += 1) {
        // Those who came just now give way to nobody in the first moment.
        await eventually('a place', async () => {
          await time.advance(1_000);
          const asked = exchange(service.url, [request]);
          await Promise.race([asked, time.untilTimer(TURNED_AWAY_TICK_MS)]);
          await time.advance(TURNED_AWAY_MS);
          return (await asked).answers[0]?.status === 200;
        });
      }
      // Otherwise connections of the crowd ended by their time limit alone, and made the places.
      assert.ok(makeRoom.mock.calls.some(({ result }) => result === true));
      if (expected !== undefined) {
        await eventually('an answer', async () => {
          await time.advance(1_000);
          return told.has(expected);
        });
      }
      leave();
    });
  }
});
