/** nginx and HAProxy before the service, with the configurations of docs/front-door.md (D15, D36, D37). */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { type ProxyName, skipWithout, startProxy } from '../support/proxies.ts';
import { anApplication, testService } from '../support/service.ts';
import { exchange, head } from './raw.ts';

const service = await testService();
const JSON_TYPE = { 'Content-Type': 'application/json' };

function batch(apiKey: string, applications: unknown[], path = '/PRO'): string {
  const body = JSON.stringify({ applications });
  const length = Buffer.byteLength(body);
  return head('POST', path, { 'X-API-Key': apiKey, ...JSON_TYPE, 'Content-Length': length }) + body;
}

/** A server in the place of the service. Counts what reaches it. */
async function backend(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  let requests = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ requests, connections }),
  };
}

/** Opens a connection that sends `first` and then a byte now and then. */
function slowClient(url: string, first: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(first));
  const drip = setInterval(() => socket.write('x'), 200);
  socket.on('error', () => {});
  socket.on('close', () => clearInterval(drip));
  after(() => socket.destroy());
  return socket;
}

for (const name of ['nginx', 'haproxy'] as const satisfies ProxyName[]) {
  describe(name, { skip: skipWithout(name) }, () => {
    it('passes batches of every size, and several requests on one connection', async () => {
      const url = await startProxy(name, service.url);
      const { apiKey } = await service.addPartner();
      const large = anApplication({ platform: 'x'.repeat(3 * 1024 * 1024) });
      for (const [applications, registered] of [
        [[anApplication()], 1],
        [Array.from({ length: 100 }, () => anApplication()), 100],
        [[anApplication(), large], 1],
      ] as const) {
        const { answers } = await exchange(url, [batch(apiKey, [...applications])], { timeoutMs: 20_000 });
        assert.equal(answers[0]?.status, 200);
        assert.equal(JSON.parse(answers[0]?.body ?? '').processed, registered);
      }
      const gets = head('GET', '/PRO', { 'X-API-Key': apiKey }).repeat(5);
      const { answers } = await exchange(url, [gets], { answers: 5, timeoutMs: 20_000 });
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200],
      );
    });

    it('a connection serves on after 401, 413 and 500, each with its own answer', async () => {
      const url = await startProxy(name, service.url);
      const { apiKey } = await service.addPartner();
      const failing = batch(apiKey, [anApplication({ phone: '+9900500' })], '/DEV');
      const tooLarge = batch(apiKey, [{ platform: 'x'.repeat(4 * 1024 * 1024 + 1) }]);
      const noKey = batch('x', [{ platform: 'x'.repeat(200_000) }]);
      for (const [status, bad] of [
        [401, noKey],
        [413, tooLarge],
        [500, failing],
      ] as const) {
        // Many at once, so that the proxy's connections to the service are used again.
        await Promise.all(
          Array.from({ length: 8 }, async () => {
            const refused = await exchange(url, [bad], { timeoutMs: 20_000 });
            assert.equal(refused.answers[0]?.status, status);
            const both = head('GET', '/PRO', { 'X-API-Key': apiKey }) + batch(apiKey, [anApplication()]);
            const { answers } = await exchange(url, [both], { answers: 2, timeoutMs: 20_000 });
            assert.deepEqual(
              answers.map((answer) => answer.status),
              [200, 200],
              `after ${status}`,
            );
          }),
        );
      }
    });

    it('slow senders stay at the proxy', async () => {
      const { url: target, counts } = await backend((_request, response) => response.end('{}'));
      const url = await startProxy(name, target);
      const starts = [
        'POST /PRO HTTP/1.1\r\nHost: x\r\nX-Slow: ',
        head('POST', '/PRO', { 'Content-Length': 10_000 }),
        head('POST', '/PRO', { 'Transfer-Encoding': 'chunked' }),
      ];
      const slow = Array.from({ length: 90 }, (_, index) => slowClient(url, starts[index % 3] as string));
      await sleep(1_000);
      const { answers } = await exchange(url, [head('GET', '/PRO')], { timeoutMs: 20_000 });
      assert.equal(answers[0]?.status, 200);
      assert.equal(counts().requests, 1);
      for (const socket of slow) socket.destroy();
    });

    it('D36: no request is repeated, neither on a new connection nor on a kept one', async () => {
      let seen = 0;
      const { url: target, counts } = await backend((request, response) => {
        seen += 1;
        // Every second request of a connection loses its answer.
        if (seen % 2 === 0) request.socket.destroy();
        else request.resume().on('end', () => response.end('{}'));
      });
      const url = await startProxy(name, target);
      const statuses: (number | undefined)[] = [];
      for (let sent = 0; sent < 6; sent += 1) {
        const { answers } = await exchange(url, [batch('k', [sent])], { timeoutMs: 20_000 });
        statuses.push(answers[0]?.status);
      }
      assert.deepEqual(statuses, [200, 502, 200, 502, 200, 502]);
      assert.equal(counts().requests, 6);
    });

    it('D37: an answer after 9.5 seconds reaches the client', async () => {
      const { url: target } = await backend((_request, response) => {
        setTimeout(() => response.end('{}'), 9_500);
      });
      const url = await startProxy(name, target);
      const { answers } = await exchange(url, [batch('k', [1])], { timeoutMs: 30_000 });
      assert.equal(answers[0]?.status, 200);
    });

    it('the service hears of a client that leaves before its answer', async () => {
      let left = 0;
      const { url: target, counts } = await backend((request) => {
        request.resume();
        request.socket.once('close', () => {
          left += 1;
        });
      });
      const url = await startProxy(name, target);
      const { port } = new URL(url);
      const clients = Array.from({ length: 3 }, () => connect({ host: '127.0.0.1', port: Number(port) }));
      for (const client of clients) client.on('error', () => {}).write(batch('k', [1]));
      await eventually('the requests', () => counts().requests === clients.length);
      for (const client of clients) client.destroy();
      await eventually('the service to hear of it', () => left === clients.length);
    });
  });
}

/** A port of the loopback where nobody listens: a service that is away. */
const AWAY = 'http://127.0.0.1:9';

describe('nginx before two services (docs/deploy.md)', { skip: skipWithout('nginx') }, () => {
  it('gives all requests to the one that is there while the other one is away', async () => {
    const { url: here } = await backend((_request, response) => response.end('{}'));
    for (const pair of [
      [here, AWAY],
      [AWAY, here],
    ] as const) {
      const url = await startProxy('nginx', pair[0], pair[1]);
      for (let sent = 0; sent < 6; sent += 1) {
        const { answers } = await exchange(url, [batch('k', [sent])], { timeoutMs: 20_000 });
        assert.equal(answers[0]?.status, 200);
      }
    }
  });

  it('D36: repeats no batch that one of them may have', async () => {
    const { url: dying, counts } = await backend((request) => request.socket.destroy());
    const { url: other, counts: others } = await backend((_request, response) => response.end('{}'));
    const url = await startProxy('nginx', dying, other);
    const statuses: (number | undefined)[] = [];
    for (let sent = 0; sent < 6; sent += 1) {
      const { answers } = await exchange(url, [batch('k', [sent])], { timeoutMs: 20_000 });
      statuses.push(answers[0]?.status);
    }
    assert.deepEqual(statuses.toSorted(), [200, 200, 200, 502, 502, 502]);
    assert.deepEqual([counts().requests, others().requests], [3, 3]);
  });
});
