/** The floods at the end of a chaos run: what they send, and that memory which stays breaks a promise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, mock, test } from 'node:test';
import type { Scene } from './faults/fault.ts';
import { checkMemory } from './memory.ts';
import { Promises } from './promises.ts';

const KEY = 'the key of the flood';
/** Each look at the time is this much later: a test of half a minute takes no half minute. */
const STEP_MS = 10_000;

/** A service that notes how each connection begins, and answers nothing. */
async function target() {
  const heads: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', (chunk: Buffer) => heads.push(chunk.toString('latin1').split('\r\n\r\n')[0]!));
    // A client of a flood leaves when it likes.
    socket.on('error', () => {}).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads };
}

/** Floods two services whose memory is `memory`; gives what came to both, and how the promise of memory was broken. */
async function flood(memory: () => number) {
  const services = [await target(), await target()];
  const promises = new Promises();
  const stage = {
    urls: services.map(({ url }) => url),
    services: services.map(() => ({
      program: {
        get memory() {
          return memory();
        },
      },
    })),
  };
  await checkMemory({ stage, promises, flood: { apiKey: KEY } } as unknown as Scene);
  return {
    heads: services.map((one) => one.heads),
    shown: promises.all.find(({ name }) => name === 'memory')!,
  };
}

test('the floods are pipelines, large webhooks and batches under the key; each service gets one', async () => {
  const { heads, shown } = await flood(() => 200);
  assert.deepEqual([shown.looks, shown.broken], [1, []]);
  for (const own of heads) assert.ok(own.length > 0);
  const begun = (head: RegExp) => heads.flat().filter((one) => head.test(one)).length;
  assert.equal(begun(/^GET \/x /), 100);
  assert.equal(begun(/^POST \/webhooks\/whatsapp (?:.|\r\n)*Content-Length: 1048576$/), 100);
  assert.equal(begun(new RegExp(`^POST /PRO (?:.|\r\n)*X-API-Key: ${KEY}\r\n`)), 64);
});

test('memory that stays after the floods breaks the promise, with the figures', async () => {
  const complaints = mock.method(console, 'error', () => {});
  after(() => complaints.mock.restore());
  let nowMs = 0;
  mock.method(performance, 'now', () => (nowMs += STEP_MS));
  let looks = 0;
  // The first look at each of the two services comes before the floods.
  const { shown } = await flood(() => (looks++ < 2 ? 200 : 700));
  assert.equal(shown.looks, 1);
  assert.match(shown.broken.join(), /200 and 200 MiB before, 700 and 700 after$/);
});
