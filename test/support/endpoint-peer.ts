/** An endpoint of a partner: a real HTTP or HTTPS server that keeps what it got and answers as the test says. */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

/** A request as the endpoint got it. */
export interface ReceivedPush {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
  /** The event; null where the body is not JSON. */
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly data: { readonly id: number };
  } | null;
}

/** A status, or a function that answers as it likes. */
export type PeerAnswer = number | ((response: ServerResponse, request: IncomingMessage) => void);

export interface EndpointPeer {
  /** `http(s)://127.0.0.1:port/events?token=hidden` */
  readonly url: string;
  /** For `ENDPOINT_HOSTS`. */
  readonly host: string;
  readonly received: ReceivedPush[];
  /** Connections so far, and requests that are not answered yet. */
  readonly counts: { connections: number; underway: number; mostUnderway: number };
  /** Asked for each request; 204 unless the test sets it. */
  answer: (push: ReceivedPush) => PeerAnswer;
  close(): Promise<void>;
}

/** Starts an endpoint on a free port. It is closed when the file is done. */
export async function startEndpointPeer(
  options: { tls?: { key: string; cert: string }; address?: string } = {},
): Promise<EndpointPeer> {
  const { tls, address = '127.0.0.1' } = options;
  const counts = { connections: 0, underway: 0, mostUnderway: 0 };
  const received: ReceivedPush[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    counts.underway += 1;
    counts.mostUnderway = Math.max(counts.mostUnderway, counts.underway);
    response.once('close', () => {
      counts.underway -= 1;
    });
    const body = await textOf(request);
    if (body === null) return;
    const push = {
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      atMs: performance.now(),
      event: eventIn(body),
    };
    received.push(push);
    const answer = peer.answer(push);
    if (typeof answer === 'function') return answer(response, request);
    response.writeHead(answer).end();
  };
  const server = tls === undefined ? http.createServer(handle) : https.createServer(tls, handle);
  server.on('connection', () => {
    counts.connections += 1;
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const peer: EndpointPeer = {
    url: `${tls === undefined ? 'http' : 'https'}://${host}/events?token=hidden`,
    host,
    received,
    counts,
    answer: () => 204,
    close: async () => {
      server.closeAllConnections();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
  after(() => peer.close());
  return peer;
}

/** null where the client left. */
async function textOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function eventIn(body: string): ReceivedPush['event'] {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
