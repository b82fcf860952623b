/** A proxy between client and service, with which a test decides what happens to a request or its answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export interface Passing {
  /** Counts the POSTs, from 1. */
  readonly number: number;
  readonly idempotencyKey: string;
  readonly body: string;
}

export interface Proxy {
  readonly url: string;
  readonly posts: Passing[];
  /** Runs when the service has answered a POST and the client has no answer yet. Returns false to lose the answer. */
  afterPost: (post: Passing) => boolean | Promise<boolean>;
}

export async function proxyOf(serviceUrl: string): Promise<Proxy> {
  const proxy: Proxy = { url: '', posts: [], afterPost: () => true };
  const server = createServer((request, response) => {
    pass(serviceUrl, proxy, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function pass(serviceUrl: string, proxy: Proxy, request: IncomingMessage, response: ServerResponse) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const headers = new Headers();
  for (const name of ['x-api-key', 'content-type', 'idempotency-key']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const { method = 'GET' } = request;
  const answer = await fetch(`${serviceUrl}${request.url}`, { method, headers, body: body || null });
  const text = await answer.text();
  if (method === 'POST') {
    const idempotencyKey = headers.get('idempotency-key') ?? '';
    const post = { number: proxy.posts.length + 1, idempotencyKey, body };
    proxy.posts.push(post);
    if (!(await proxy.afterPost(post))) return response.destroy();
  }
  response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text);
}
