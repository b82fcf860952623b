/** The virus scanner, by clamd's protocol. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { readClamdAddress } from '../../src/documents/rules/clamd-address.ts';
import { clamdScanner } from '../../src/documents/scan/clamd.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { hasClamd, startClamd, VIRUS, VIRUS_NAME } from './clamd.ts';

describe('a real clamd', {
  skip: !hasClamd && 'clamd is missing (apt-get install clamav-daemon)',
}, async () => {
  if (!hasClamd) return;
  const clamd = await startClamd();
  for (const [name, address] of [
    ['over TCP', clamd.address],
    ['over a socket', clamd.socket],
  ] as const) {
    const scan = clamdScanner(address, PATIENCE_MS);
    it(`${name} finds what it knows and lets the rest pass`, async () => {
      assert.deepEqual(await scan(Buffer.from('hello')), { kind: 'clean' });
      assert.deepEqual(await scan(Buffer.alloc(0)), { kind: 'clean' });
      assert.deepEqual(await scan(randomBytes(5_000_000)), { kind: 'clean' });
      const infected = Buffer.concat([randomBytes(200_000), Buffer.from(VIRUS), randomBytes(10)]);
      assert.deepEqual(await scan(infected), { kind: 'infected', name: VIRUS_NAME });
    });
  }
  it('that takes less than the service says so, and lets nothing pass', async () => {
    const small = await startClamd(100_000);
    assert.deepEqual(await clamdScanner(small.address, PATIENCE_MS)(randomBytes(1_000_000)), {
      kind: 'too_large',
    });
  });
  it('that is down is unavailable', async () => {
    const other = await startClamd();
    await other.stop();
    assert.equal((await clamdScanner(other.address)(Buffer.of(1))).kind, 'unavailable');
    assert.equal((await clamdScanner(other.socket)(Buffer.of(1))).kind, 'unavailable');
  });
});

/** A peer that answers in its own way. */
async function peerOf(answer: (socket: Socket) => void, timeoutMs = PATIENCE_MS) {
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
  return clamdScanner({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, timeoutMs);
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
  it('without an answer in time, and with a reset', async () => {
    const silent = await peerOf(() => {}, 500);
    assert.deepEqual(await silent(Buffer.of(1)), { kind: 'unavailable', reason: 'no answer in time' });
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
