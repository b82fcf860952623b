/** The command's own fetch: a request ends, whatever the server does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readText } from '../../../../client/src/read-text.ts';
import { httpFetch } from '../../src/send/remote-service.ts';

/** Sends a request to a server of its own for each signal, one after the other. */
async function ask(answer: RequestListener, signals: readonly AbortSignal[]) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/PRO`;
  const fetch = httpFetch(url);
  const answers: { status: number; text: string | null; location: string | null }[] = [];
  try {
    for (const signal of signals) {
      const body = new TextEncoder().encode('{"ñ":1}');
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'X-API-Key': 'k' },
        body,
        redirect: 'manual',
        cache: 'no-store',
        signal,
      });
      const { status } = response;
      answers.push({
        status,
        text: await readText(response.body),
        location: response.headers.get('Location'),
      });
    }
    return answers;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const never = () => new AbortController().signal;

test('it keeps its connection, sends the body unchanged and follows no redirect', async () => {
  const ports = new Set<number | undefined>();
  const bodies: string[] = [];
  const answers = await ask(
    (request, response) => {
      ports.add(request.socket.remotePort);
      request.setEncoding('utf8');
      request.on('data', (text) => bodies.push(text));
      request.on('end', () => response.writeHead(307, { Location: '/elsewhere' }).end('ñ'.repeat(100_000)));
    },
    [never(), never(), never()],
  );
  assert.equal(ports.size, 1);
  assert.deepEqual(bodies, ['{"ñ":1}', '{"ñ":1}', '{"ñ":1}']);
  assert.deepEqual(
    answers,
    answers.map(() => ({ status: 307, text: 'ñ'.repeat(100_000), location: '/elsewhere' })),
  );
});

for (const [what, answer] of [
  ['does not answer', () => {}],
  ['stops in the middle of an answer', (_request, response) => void response.writeHead(200).write('{')],
] as const satisfies [string, RequestListener][]) {
  test(`the signal ends a request to a server that ${what}`, async () => {
    const stop = new AbortController();
    const answerAndStop: RequestListener = (request, response) => {
      answer(request, response);
      setImmediate(() => stop.abort());
    };
    await assert.rejects(ask(answerAndStop, [stop.signal]), { name: 'AbortError' });
  });
}

test('an answer 101 is an error', async () => {
  await assert.rejects(
    ask(
      (request) => {
        request.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      },
      [never()],
    ),
    // The connection ends without an error, so there is none to pass on.
    (error: unknown) => error === undefined,
  );
});

test('an answer that is cut off is an error', async () => {
  await assert.rejects(
    ask(
      (_request, response) => {
        response.writeHead(200, { 'Content-Length': 10 }).write('{', () => response.destroy());
      },
      [never()],
    ),
    { code: 'ECONNRESET' },
  );
});
