/** Answers without end: the client reads each within a bound in bytes and in time (D36). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as client from '../../client/src/index.ts';
import { httpFetch } from '../../packages/submit/src/send/remote-service.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { startHostileServer, TOO_LONG, TOO_MUCH_BEFORE, TOO_SLOW } from '../support/hostile-answers.ts';
import { TestClock } from '../support/test-clock.ts';
import { anInput, inputs, rejection } from './support.ts';

const bounded = { timeout: PATIENCE_MS };
/** What may leave the server: the bound of 4 MiB, half as much again in small chunks, and what sockets hold. */
const MOST_SENT = 22 * 1024 * 1024;

/** A `fetch` that does not heed its signal, as one that a partner writes may be. */
const stubborn: client.Fetch = async (url, { signal: _, ...request }) => fetch(url, request);

for (const [name, fetchFor] of [
  ["the platform's fetch", () => undefined],
  ['the fetch of `ventanilla submit`', httpFetch],
] as const) {
  describe(name, { concurrency: true }, () => {
    const clientFor = (url: string, changes: Partial<client.ClientOptions> = {}) => {
      const fetch = fetchFor(url);
      const options = { url, apiKey: 'k', retries: 0, ...changes, ...(fetch && { fetch }) };
      return new client.VentanillaClient(options);
    };

    for (const [what, answer] of Object.entries(TOO_LONG)) {
      it(`${what}: an error that says so, tried again, with the batch in doubt`, bounded, async () => {
        // Of a packed body this reader sees the packed bytes, which have no end either.
        const server = await startHostileServer(answer);
        const list = inputs(3);
        const error = await rejection(
          client.ResponseError,
          clientFor(`${server.url}/PRO`, { timeoutMs: PATIENCE_MS / 2, retries: 1 }).submit(list),
        );
        assert.match(error.message, /^the answer is longer than 4194304 bytes/);
        assert.equal(server.requests, 2);
        assert.ok(server.sent < 2 * MOST_SENT, `${server.sent} bytes`);
        assert.deepEqual(
          error.known.map(({ known }) => known.kind),
          ['unknown', 'unknown', 'unknown'],
        );
      });
    }

    for (const [what, answer] of Object.entries(TOO_SLOW)) {
      it(`${what}: no answer in time`, bounded, async () => {
        const server = await startHostileServer(answer);
        const clock = new TestClock();
        const call = clientFor(`${server.url}/PRO`, { clock }).submit([anInput()]);
        const late = rejection(client.NetworkError, call);
        await eventually('a part of the answer', () => server.sent > 0);
        // The answer goes on all the time: no pause of it is too long.
        for (let seconds = 1; seconds < 15; seconds += 1) {
          await clock.advance(1_000);
          server.more();
        }
        await clock.advance(999);
        // The readers end interim answers by themselves.
        const isInterim = what.startsWith('interim');
        if (!isInterim) assert.equal(clock.timers, 1, 'the attempt goes on');
        await clock.advance(1);
        const { message } = await late;
        if (!isInterim) assert.equal(message, 'no answer within 15000 ms');
      });
    }

    for (const [what, answer] of Object.entries(TOO_MUCH_BEFORE)) {
      it(`${what}: no answer`, bounded, async () => {
        const server = await startHostileServer(answer);
        const clock = new TestClock();
        const late = rejection(client.NetworkError, clientFor(`${server.url}/PRO`, { clock }).quota());
        // The reader of some answers ends by itself; of the others the limit ends it.
        await eventually('the end or a part of the answer', () => clock.timers === 0 || server.sent > 0);
        await clock.advance(15_000);
        await late;
        await eventually('the end of the connection', () => server.open === 0);
        assert.ok(server.sent < MOST_SENT, `${server.sent} bytes`);
      });
    }
  });
}

describe('an answer of another status', () => {
  it('keeps its meaning where its body has no end', bounded, async () => {
    for (const [status, type] of [
      [401, client.AuthenticationError],
      [404, client.RequestRefusedError],
      [500, client.ServiceUnavailableError],
    ] as const) {
      const first = `HTTP/1.1 ${status} X\r\n\r\n`;
      const server = await startHostileServer({ ...TOO_LONG['a body without a length'], first });
      const options = { url: `${server.url}/PRO`, apiKey: 'k', retries: 0 };
      const it = new client.VentanillaClient(options);
      await rejection<client.VentanillaError>(type, status === 404 ? it.application(1) : it.quota());
    }
  });
});

describe('a fetch that does not heed the signal', () => {
  it('ends in time all the same', bounded, async () => {
    const server = await startHostileServer(TOO_SLOW['a body that drips']);
    const clock = new TestClock();
    const options = { url: `${server.url}/PRO`, apiKey: 'k', retries: 0, clock, fetch: stubborn };
    const late = rejection(client.NetworkError, new client.VentanillaClient(options).quota());
    await eventually('a part of the answer', () => server.sent > 0);
    await clock.advance(15_000);
    await late;
  });
});
