/**
 * What the client needs of `fetch`, over node:http: to load and warm the platform's costs a short run a fifth of its
 * CPU. Connections are kept; no redirect is followed.
 */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Fetch, FetchResponse } from '../../client/src/index.ts';

const PLAIN = { open: http.request, agent: new http.Agent({ keepAlive: true }) };
const SECURE = { open: https.request, agent: new https.Agent({ keepAlive: true }) };

/** Resolves with the head of the answer; rejects where there is none, with the system's code. */
export const httpFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const { open, agent } = url.startsWith('https:') ? SECURE : PLAIN;
    const length = body === null ? {} : { 'Content-Length': body.byteLength };
    const request = open(url, { method, agent, signal, headers: { ...headers, ...length } });
    request.on('error', reject);
    request.on('response', (response) => resolve(responseOf(response)));
    request.end(body ?? undefined);
  });

function responseOf(response: IncomingMessage): FetchResponse {
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    type: 'default',
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    async text() {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}
