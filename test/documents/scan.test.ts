/** The virus scanner by clamd's protocol, with peers that answer in their own ways. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { readClamdAddress } from '../../src/subjects/documents/rules/clamd-address.ts';
import { clamdScanner } from '../../src/subjects/documents/scan/clamd.ts';
import { eventually } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';

/** A peer that answers in its own way. */
async function peerOf(answer: (socket: Socket) => void, clock = machineClock) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    answer(socket);
  }).listen(0, '127.0.0.1');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise((done) => server.once('listening', done));
  return clamdScanner({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, clock);
}

describe('a peer that is no clamd, or fails, lets nothing pass', () => {
  const unavailable = [
    '',
    'stream: O',
    'stream: OKAY\0',
    'stream: Access denied. ERROR\0',
    'PONG\0',
    'x'.repeat(10_000),
  ];
  for (const text of unavailable) {
    it(`with the answer ${JSON.stringify(text.slice(0, 30))}`, async () => {
      const scan = await peerOf((socket) => socket.end(text));
      assert.equal((await scan(randomBytes(100_000))).kind, 'unavailable');
    });
  }
  it('without an answer within a minute', async () => {
    const clock = new TestClock();
    let asked = 0;
    const silent = await peerOf((socket) => {
      asked += 1;
      socket.resume();
    }, clock);
    let result: unknown;
    void silent(Buffer.of(1)).then((found) => {
      result = found;
    });
    await eventually('the scan', () => asked === 1);
    await clock.advance(59_999);
    assert.equal(result, undefined);
    await clock.advance(1);
    assert.deepEqual(result, { kind: 'unavailable', reason: 'no answer in time' });
    assert.equal(clock.timers, 0);
  });
  it('with a reset', async () => {
    const reset = await peerOf((socket) => socket.resetAndDestroy());
    assert.equal((await reset(randomBytes(1_000_000))).kind, 'unavailable');
  });
  it('but an answer that comes before all bytes were taken counts', async () => {
    const early = await peerOf((socket) => socket.end('stream: Early FOUND\0'));
    assert.deepEqual(await early(randomBytes(3_000_000)), { kind: 'infected', name: 'Early' });
  });
});

it('CLAMD is host:port or the absolute path of a socket', () => {
  assert.deepEqual(readClamdAddress('127.0.0.1:3310'), { host: '127.0.0.1', port: 3310 });
  assert.deepEqual(readClamdAddress('[::1]:3310'), { host: '::1', port: 3310 });
  assert.deepEqual(readClamdAddress('/run/clamd.sock'), { path: '/run/clamd.sock' });
  for (const text of ['', 'clamd', 'clamd:', 'clamd:0', 'clamd:99999', 'run/clamd.sock', 'a:b:1']) {
    assert.throws(() => readClamdAddress(text), RangeError, text);
  }
});
