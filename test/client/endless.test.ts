/** Answers without end: the client reads each within a bound in bytes and in time (D36). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as client from '../../client/src/index.ts';
import { httpFetch } from '../../src/bulk/send/http-fetch.ts';
import { PATIENCE_MS, SLACK_MS } from '../support/eventually.ts';
import { startHostileServer, TOO_LONG, TOO_MUCH_BEFORE, TOO_SLOW } from '../support/hostile-answers.ts';
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
    const clientFor = (url: string, timeoutMs: number, retries = 0) => {
      const fetch = fetchFor(url);
      return new client.VentanillaClient({ url, apiKey: 'k', retries, timeoutMs, ...(fetch && { fetch }) });
    };

    for (const [what, answer] of Object.entries(TOO_LONG)) {
      it(`${what}: an error that says so, tried again, with the batch in doubt`, bounded, async () => {
        // Of a packed body this reader sees the packed bytes, which have no end either.
        const server = await startHostileServer(answer);
        const list = inputs(3);
        const error = await rejection(
          client.ResponseError,
          clientFor(`${server.url}/PRO`, PATIENCE_MS / 2, 1).submit(list),
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
        const start = performance.now();
        await rejection(client.NetworkError, clientFor(`${server.url}/PRO`, 300).submit([anInput()]));
        assert.ok(performance.now() - start < 300 + SLACK_MS);
      });
    }

    for (const [what, answer] of Object.entries(TOO_MUCH_BEFORE)) {
      it(`${what}: no answer`, bounded, async () => {
        const server = await startHostileServer(answer);
        await rejection(client.NetworkError, clientFor(`${server.url}/PRO`, 1_000).quota());
        const { sent } = server;
        await new Promise((resolve) => setTimeout(resolve, 50));
        assert.ok(server.sent - sent < MOST_SENT, 'the connection is closed');
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
    const options = { url: `${server.url}/PRO`, apiKey: 'k', retries: 0, timeoutMs: 200, fetch: stubborn };
    await rejection(client.NetworkError, new client.VentanillaClient(options).quota());
  });
});
