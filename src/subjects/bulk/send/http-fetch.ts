/**
 * The part of `fetch` that the client needs, over node:http. Loading and warming the platform's `fetch` costs a short
 * run a fifth of its CPU. Connections are kept. No redirect is followed.
 */
import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import type { Fetch, FetchResponse } from '../../../../client/src/index.ts';

/** Interim answers (100 to 199) before an answer. Each one costs the process time. */
const MAX_INTERIM_ANSWERS = 10;

/** A `fetch` for one URL. Throws `TypeError` where the text is no URL. */
export function httpFetch(only: string): Fetch {
  const { request: open, Agent } = moduleFor(only);
  const to = { ...urlToHttpOptions(new URL(only)), agent: new Agent({ keepAlive: true }) };
  // Resolves with the head of the answer. Without an answer it rejects with the system's code.
  return (_url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      let interim = 0;
      if (signal.aborted) return reject(signal.reason);
      const length = body === null ? {} : { 'Content-Length': body.byteLength };
      const request = open({ ...to, method, headers: { ...headers, ...length } });
      signal.addEventListener('abort', () => request.destroy(signal.reason), { once: true });
      request.on('error', reject);
      // Some answers (101) end the connection without an error.
      request.on('close', reject);
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) request.destroy(new Error('too many interim answers'));
      });
      request.on('response', (response) => resolve(responseOf(response)));
      request.end(body ?? undefined);
    });
}

/** Avoids `import`, which reads every export of node:http; one of them loads the platform's fetch. */
function moduleFor(url: string): Pick<typeof import('node:http'), 'request' | 'Agent'> {
  return process.getBuiltinModule(/^https:/i.test(url) ? 'node:https' : 'node:http');
}

function responseOf(response: IncomingMessage): FetchResponse {
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    type: 'default',
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    body: {
      getReader() {
        const pieces: AsyncIterator<Uint8Array, undefined> = response[Symbol.asyncIterator]();
        return { read: async () => await pieces.next() };
      },
    },
  };
}
