/** The rule against double sends: a message that the API may have taken is never sent again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTlsApi } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, describe, it } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import type { WhatsAppConfig } from '../../../src/app/config/config.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { OutgoingMessage } from '../../../src/domain/message/outgoing-message.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../../src/subjects/messages/channels/whatsapp.ts';
import { eventually } from '../../support/eventually.ts';
import { startHostileServer, TOO_LONG, TOO_MUCH_BEFORE } from '../../support/hostile-answers.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { TestClock } from '../../support/test-clock.ts';
import { type Fault, startWhatsAppApi } from '../../support/whatsapp-api.ts';
import { aMessage } from './messages.ts';

const api = await startWhatsAppApi();
after(() => api.close());

const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const LIMITS = { timeoutMs: 20_000, maxAnswerBytes: 1_000, idleMs: 4_000 };
const never = new AbortController().signal;

const channel = whatsappChannel(settings, machineClock, LIMITS);
const accepted = (message: OutgoingMessage) => api.accepted.get(message.callback)?.length ?? 0;

describe('a send without a clear answer', () => {
  const OK = JSON.stringify({ messages: [{ id: 'wamid.1' }] });
  const longer = { 'Content-Length': '500' };

  it('a message that the API may have taken is never a retry, and each result comes at the limit at the latest', async () => {
    const late = Promise.withResolvers<void>();
    const inTime = 'in time';
    const atLimit = 'at the limit';
    const cases: [name: string, when: typeof inTime | typeof atLimit, fault: Fault, expected: object][] = [
      ['never answers', atLimit, { answer: 'never' }, { kind: 'uncertain', reason: 'timeout' }],
      [
        'takes the message and never answers',
        atLimit,
        { accept: true, answer: 'never' },
        { kind: 'uncertain', reason: 'timeout' },
      ],
      [
        'answers too late',
        atLimit,
        { accept: true, held: late.promise },
        { kind: 'uncertain', reason: 'timeout' },
      ],
      ['closes', inTime, { answer: 'close' }, { kind: 'uncertain', reason: 'connection_lost' }],
      [
        'takes the message and closes',
        inTime,
        { accept: true, answer: 'close' },
        { kind: 'uncertain', reason: 'connection_lost' },
      ],
      [
        'takes the message and sends bytes that are not HTTP',
        inTime,
        { accept: true, answer: { status: 200, body: '\u0000\ufffd{' } },
        { kind: 'uncertain', reason: 'http_200' },
      ],
      [
        'takes the message and sends an answer that is too long',
        inTime,
        { accept: true, answer: { status: 200, body: OK + ' '.repeat(2_000) } },
        { kind: 'uncertain', reason: 'http_200' },
      ],
      [
        'takes the message and breaks off its answer',
        atLimit,
        { accept: true, answer: { status: 200, headers: longer, body: OK } },
        { kind: 'uncertain', reason: 'http_200' },
      ],
      [
        'refuses the message and breaks off its answer',
        atLimit,
        { answer: { status: 429, headers: { ...longer, 'Retry-After': '7' }, body: '{' } },
        { kind: 'retry', reason: 'http_429', afterMs: 7_000 },
      ],
    ];
    for (const [name, when, fault, expected] of cases) {
      const message = aMessage();
      const clock = new TestClock();
      api.faults.push(fault);
      const { requests, ends } = api.seen;
      const sending = whatsappChannel(settings, clock, LIMITS).send(message, never);
      if (when === atLimit) {
        const hasCome = () =>
          api.seen.requests > requests && (fault.held !== undefined || api.seen.ends > ends);
        await eventually(name, hasCome);
        await clock.advance(LIMITS.timeoutMs - 1);
        assert.equal(clock.timers, 1, `${name}: the send goes on`);
        await clock.advance(1);
      }
      assert.deepEqual(await sending, expected, name);
      assert.equal(clock.timers, 0, name);
      assert.equal(accepted(message), fault.accept === true ? 1 : 0, name);
    }
    late.resolve();
  });

  it('an answer without end is not read to its end, and the message may have been sent', async () => {
    const endless = { ...TOO_LONG, ...TOO_MUCH_BEFORE };
    for (const [what, answer] of Object.entries(endless)) {
      const server = await startHostileServer(answer);
      const via = whatsappChannel({ ...settings, apiUrl: server.url }, machineClock, LIMITS);
      assert.equal((await via.send(aMessage(), never)).kind, 'uncertain', what);
      assert.ok(server.sent < 16 * 1024 * 1024, `${what}: ${server.sent} bytes`);
    }
  });

  it('a slow answer within the limit is accepted', async () => {
    const clock = new TestClock();
    const answer = Promise.withResolvers<void>();
    const message = aMessage();
    api.faults.push({ held: answer.promise });
    const sending = whatsappChannel(settings, clock, LIMITS).send(message, never);
    await eventually('the message', () => accepted(message) === 1);
    await clock.advance(LIMITS.timeoutMs - 1);
    answer.resolve();
    assert.equal((await sending).kind, 'accepted');
  });

  it('a connection that closes without an answer is a retry before it is established, else uncertain', async () => {
    const fresh = whatsappChannel(settings, machineClock, LIMITS);
    api.closeUnread = 1;
    const result = await fresh.send(aMessage(), never);
    assert.match(JSON.stringify(result), /"retry","reason":"ECONN|"uncertain","reason":"connection_lost"/);
    assert.equal((await fresh.send(aMessage(), never)).kind, 'accepted');
  });

  it('a failed connection is a retry, with the code of the system as its reason', async () => {
    const closed = await listening(createServer());
    closed.server.close();
    const cases: [apiUrl: string, reason: RegExp][] = [
      [`http://127.0.0.1:${closed.port}`, /^ECONNREFUSED$/],
      // A label may have 63 letters at most, so every resolver refuses this name without a query.
      [`https://${'a'.repeat(64)}.invalid`, /^(ENOTFOUND|EAI_\w+)$/],
    ];
    for (const [apiUrl, reason] of cases) {
      const result = await whatsappChannel({ ...settings, apiUrl }, machineClock, LIMITS).send(
        aMessage(),
        never,
      );
      assert.equal(result.kind, 'retry', apiUrl);
      assert.match((result as { reason: string }).reason, reason);
    }
  });

  it('an abort is a retry before the request left, and uncertain after that', async () => {
    const message = aMessage();
    assert.deepEqual(await channel.send(message, AbortSignal.abort()), { kind: 'retry', reason: 'aborted' });
    assert.equal(accepted(message), 0);

    const during = aMessage();
    const abort = new AbortController();
    api.fault = () => {
      setImmediate(() => abort.abort());
      return { accept: true, answer: 'never' };
    };
    assert.deepEqual(await channel.send(during, abort.signal), { kind: 'uncertain', reason: 'aborted' });
    assert.equal(accepted(during), 1);
  });

  it('a TLS handshake that does not end is a retry, because nothing of the request left', async () => {
    const connections: (() => void)[] = [];
    const mute = createServer((socket) => {
      socket.on('error', () => {});
      for (const act of connections.splice(0)) act();
    });
    const { port } = await listening(mute);
    const over = { ...settings, apiUrl: `https://127.0.0.1:${port}` };
    const clock = new TestClock();
    let isConnected = false;
    connections.push(() => {
      isConnected = true;
    });
    const sending = whatsappChannel(over, clock, LIMITS).send(aMessage(), never);
    await eventually('the connection', () => isConnected);
    await clock.advance(LIMITS.timeoutMs - 1);
    assert.equal(clock.timers, 1);
    await clock.advance(1);
    assert.deepEqual(await sending, { kind: 'retry', reason: 'timeout' });
    const abort = new AbortController();
    connections.push(() => abort.abort());
    assert.deepEqual(await whatsappChannel(over, machineClock, LIMITS).send(aMessage(), abort.signal), {
      kind: 'retry',
      reason: 'aborted',
    });
    mute.close();
  });

  it('a connection lost after the TLS handshake is uncertain; an unknown certificate is a retry', async () => {
    const { key, cert } = selfSigned();
    let answer: 'close' | 'accept' = 'accept';
    const secure = createTlsApi({ key, cert }, (request, response) => {
      request.resume().on('end', () => {
        if (answer === 'close') response.destroy();
        else response.end(OK);
      });
    });
    const { port } = await listening(secure);
    const over = { ...settings, apiUrl: `https://127.0.0.1:${port}` };
    assert.deepEqual(await whatsappChannel(over, machineClock, LIMITS).send(aMessage(), never), {
      kind: 'retry',
      reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    setDefaultCACertificates([cert]);
    const trusting = whatsappChannel(over, machineClock, LIMITS);
    assert.deepEqual(await trusting.send(aMessage(), never), {
      kind: 'accepted',
      channelMessageId: 'wamid.1',
    });
    answer = 'close';
    // Once on the kept connection, once on a new connection.
    for (let turn = 0; turn < 2; turn++) {
      assert.deepEqual(await trusting.send(aMessage(), never), {
        kind: 'uncertain',
        reason: 'connection_lost',
      });
    }
    secure.close();
  });
});

async function listening(server: Server): Promise<{ server: Server; port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}
