/** What the sender of pushes makes of endpoints, with real HTTP and TLS (D41). */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../../src/ground/base/clock.ts';
import {
  type PushSender,
  pushSender,
  type SenderOptions,
} from '../../../src/subjects/events/push/http/sender.ts';
import { readEndpointHosts } from '../../../src/subjects/events/push/rules/endpoint-hosts.ts';
import { startEndpointPeer } from '../../support/endpoint-peer.ts';
import { eventually } from '../../support/eventually.ts';
import { startHostileServer, TOO_SLOW } from '../../support/hostile-answers.ts';
import { TestClock } from '../../support/test-clock.ts';

const BODY = '{"id":"evt_1"}';
/** Nobody may be asked for a name in these tests. */
const noNames = async (name: string) => assert.fail(`looked up ${name}`);
const NEVER = new AbortController().signal;

function senderTo(host: string, options: Partial<SenderOptions> = {}): PushSender {
  const hosts = host === '' ? new Set<string>() : readEndpointHosts(host);
  const sender = pushSender({ clock: machineClock, hosts, resolve: noNames, ...options });
  after(() => sender.close());
  return sender;
}

const pushTo = (sender: PushSender, url: string, signal = NEVER) =>
  sender.send({ url: new URL(url), headers: { 'webhook-id': 'evt_1' }, body: BODY }, signal);
const failed = (failure: string, isGone = false) => ({ kind: 'failed', failure, isGone });

describe('an endpoint that answers', () => {
  it('D41: gets the body with its headers; every status of 2xx is a success, on one kept connection', async () => {
    const peer = await startEndpointPeer();
    const sender = senderTo(peer.host);
    for (const status of [200, 201, 204, 299]) {
      peer.answer = () => status;
      assert.deepEqual(await pushTo(sender, peer.url), { kind: 'delivered', status });
    }
    const [{ path, headers, body }] = peer.received as [(typeof peer.received)[0]];
    assert.deepEqual([path, body], ['/events?token=hidden', BODY]);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['content-length'], `${BODY.length}`);
    assert.match(headers['user-agent'] ?? '', /^Ventanilla\/\d+\.\d+\.\d+/);
    assert.equal(headers['webhook-id'], 'evt_1');
    assert.equal(peer.counts.connections, 1);
  });

  it('D41: any other status is a failure, 410 for good, and no redirect is followed', async () => {
    const [peer, other] = [await startEndpointPeer(), await startEndpointPeer()];
    const sender = senderTo(`${peer.host},${other.host}`);
    for (const status of [301, 302, 303, 307, 308]) {
      peer.answer = () => (response) => response.writeHead(status, { Location: other.url }).end();
      assert.deepEqual(await pushTo(sender, peer.url), failed(`status_${status}`));
    }
    for (const status of [400, 401, 404, 429, 500, 503]) {
      peer.answer = () => status;
      assert.deepEqual(await pushTo(sender, peer.url), failed(`status_${status}`));
    }
    peer.answer = () => 410;
    assert.deepEqual(await pushTo(sender, peer.url), failed('status_410', true));
    assert.equal(other.counts.connections, 0);
  });

  it('D41: a body of 10 MB is not read to its end, and does not make a success a failure', async () => {
    const peer = await startEndpointPeer();
    const sender = senderTo(peer.host);
    const answers: ServerResponse[] = [];
    peer.answer = () => (response) => {
      answers.push(response);
      response.writeHead(200).end(Buffer.alloc(10_000_000));
    };
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    const [answer] = answers as [ServerResponse];
    await eventually('the connection to be closed', () => answer.closed);
    assert.equal(answer.writableFinished, false);
  });

  it('D41: a body that drips does not hold the sender, and its connection is closed', async () => {
    const peer = await startEndpointPeer();
    const clock = new TestClock();
    const sender = senderTo(peer.host, { clock });
    let isClosed = false;
    peer.answer =
      () =>
      (response, { socket }) => {
        socket.once('close', () => {
          isClosed = true;
        });
        response.writeHead(200, { 'Content-Length': '100' }).write('a');
      };
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    await clock.advance(999);
    assert.equal(isClosed, false);
    await clock.advance(1);
    await eventually('the connection to be closed', () => isClosed);
  });
});

describe('an endpoint that does not answer', () => {
  it('D41: fails after ten seconds and not before, whether it is silent or its head drips', async () => {
    const silent = await startEndpointPeer();
    silent.answer = () => () => {};
    const drip = await startHostileServer(TOO_SLOW['a head that drips']);
    const clock = new TestClock();
    const sender = senderTo(`${silent.host},${new URL(drip.url).host}`, { clock });
    for (const { url, hasBegun } of [
      { url: silent.url, hasBegun: () => silent.counts.underway === 1 },
      { url: drip.url, hasBegun: () => drip.sent > 0 },
    ]) {
      const push = pushTo(sender, url);
      await eventually('the request', hasBegun);
      for (let seconds = 1; seconds < 10; seconds += 1) {
        await clock.advance(1_000);
        drip.more();
      }
      await clock.advance(999);
      assert.equal(clock.timers, 1, 'the push goes on');
      await clock.advance(1);
      assert.deepEqual(await push, failed('timeout'));
      assert.equal(clock.timers, 0);
    }
    await eventually('the connection to be closed', () => silent.counts.underway === 0);
  });

  it('D41: fails at once where it refuses, resets or closes the connection, or leaves HTTP', async () => {
    const peer = await startEndpointPeer();
    const sender = senderTo(`${peer.host},127.0.0.1:1`);
    assert.deepEqual(await pushTo(sender, 'http://127.0.0.1:1/'), failed('ECONNREFUSED'));
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.resetAndDestroy();
    assert.deepEqual(await pushTo(sender, peer.url), failed('ECONNRESET'));
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
    assert.equal((await pushTo(sender, peer.url)).kind, 'failed');
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.end('nonsense\r\n\r\n');
    assert.equal((await pushTo(sender, peer.url)).kind, 'failed');
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.end(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`);
    assert.equal((await pushTo(sender, peer.url)).kind, 'failed');
  });

  it('D41: fails at once where it sends interim answers without end, because each one costs the process time', async () => {
    const peer = await startEndpointPeer();
    const sender = senderTo(peer.host);
    const interim = (count: number) => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(count);
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.write(interim(5_000));
    assert.deepEqual(await pushTo(sender, peer.url), failed('interim_answers'));
    peer.answer =
      () =>
      (_, { socket }) =>
        socket.write(`${interim(3)}HTTP/1.1 204 No Content\r\n\r\n`);
    assert.deepEqual(await pushTo(sender, peer.url), { kind: 'delivered', status: 204 });
  });

  it('D41: a kept connection that the endpoint closes meanwhile is replaced, and the push goes out again', async () => {
    const peer = await startEndpointPeer();
    const sender = senderTo(peer.host);
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    let requests = 0;
    peer.answer = () => {
      requests += 1;
      return requests === 1 ? (_, { socket }) => socket.resetAndDestroy() : 200;
    };
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    assert.deepEqual([requests, peer.counts.connections], [2, 2]);
  });

  it('D41: a push that was given up on a kept connection is not sent again', async () => {
    const peer = await startEndpointPeer();
    const clock = new TestClock();
    const sender = senderTo(peer.host, { clock });
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    peer.answer = () => () => {};
    const givenUp = pushTo(sender, peer.url);
    await eventually('the request', () => peer.received.length === 2);
    await clock.advance(10_000);
    assert.deepEqual(await givenUp, failed('timeout'));
    const cut = new AbortController();
    peer.answer = () => 200;
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    peer.answer = () => () => cut.abort();
    assert.deepEqual(await pushTo(sender, peer.url, cut.signal), failed('aborted'));
    peer.answer = () => 200;
    assert.equal((await pushTo(sender, peer.url)).kind, 'delivered');
    assert.equal(peer.received.length, 5);
  });

  it('D41: an aborted push ends at once', async () => {
    const peer = await startEndpointPeer();
    peer.answer = () => () => {};
    const sender = senderTo(peer.host);
    const cut = new AbortController();
    const sent = pushTo(sender, peer.url, cut.signal);
    await eventually('the request', () => peer.received.length === 1);
    cut.abort();
    assert.deepEqual(await sent, failed('aborted'));
    assert.deepEqual(await pushTo(sender, peer.url, cut.signal), failed('aborted'));
  });
});

describe('an address that is not public', () => {
  it('D41: is not connected to, as an address or as a name, and neither is a name with one such address', async () => {
    const peer = await startEndpointPeer();
    const port = new URL(peer.url).port;
    const addresses: Record<string, string[]> = {
      'private.example': ['127.0.0.1'],
      'mixed.example': ['8.8.8.8', '127.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
      'nat64.example': ['64:ff9b::7f00:1'],
      'metadata.example': ['169.254.169.254'],
    };
    const sender = senderTo('', { resolve: async (name) => addresses[name] ?? [] });
    for (const name of Object.keys(addresses)) {
      assert.deepEqual(await pushTo(sender, `https://${name}:${port}/`), failed('private_address'), name);
    }
    for (const host of [
      '127.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '0',
    ]) {
      assert.deepEqual(await pushTo(sender, `https://${host}:${port}/`), failed('private_address'), host);
    }
    assert.deepEqual(await pushTo(sender, `https://unknown.example:${port}/`), failed('ENOTFOUND'));
    for (const [code, failure] of [
      ['ENODATA', 'ENOTFOUND'],
      ['ESERVFAIL', 'name_servers'],
      // The name server's refusal is not the endpoint's.
      ['ECONNREFUSED', 'name_servers'],
    ] as const) {
      const resolve = () => Promise.reject(Object.assign(new Error(code), { code }));
      const sender = senderTo('', { resolve });
      assert.deepEqual(await pushTo(sender, 'https://partner.example/'), failed(failure), code);
    }
    assert.equal(peer.counts.connections, 0);
  });

  it('D41: a name that changes between two look-ups is looked up once for each connection, and judged each time', async () => {
    const peer = await startEndpointPeer();
    const port = new URL(peer.url).port;
    const answers = [['2606:4700::1111'], ['127.0.0.1']];
    const asked: string[] = [];
    const clock = new TestClock();
    const sender = senderTo('', {
      clock,
      resolve: async (name) => {
        asked.push(name);
        return answers[asked.length - 1] ?? assert.fail('looked up again');
      },
    });
    // Nobody listens at the public address of this test, so the first push fails in its own way, or by its limit.
    const first = pushTo(sender, `https://rebinding.example:${port}/`);
    await eventually('the look-up', () => asked.length === 1);
    await clock.advance(10_000);
    assert.notDeepEqual(await first, failed('private_address'));
    assert.deepEqual(await pushTo(sender, `https://rebinding.example:${port}/`), failed('private_address'));
    assert.deepEqual(asked, ['rebinding.example', 'rebinding.example']);
    assert.equal(peer.counts.connections, 0);
  });

  it('D41: a URL without TLS is not sent to, unless ENDPOINT_HOSTS names its host', async () => {
    const sender = senderTo('', { resolve: async () => ['8.8.8.8'] });
    assert.deepEqual(await pushTo(sender, 'http://partner.example/'), failed('not_https'));
  });
});
