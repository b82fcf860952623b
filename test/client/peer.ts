/** A real HTTP server between client and service, which makes faults on demand. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export interface Seen {
  /** Number of the request, from 1. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * What happens to a request: the peer forwards it; or forwards it and loses the answer (`lose`), cuts the answer off
 * within a whole HTTP message (`truncate`) or stops in its middle (`stall`); or closes the connection at once
 * (`close`); or never answers (`hang`); or answers by itself.
 */
export type Fate =
  | 'forward'
  | 'lose'
  | 'truncate'
  | 'stall'
  | 'close'
  | 'hang'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** The fate of a request that the peer answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Fate {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

export interface Peer {
  /** The peer's base URL, without `/PRO`. */
  readonly url: string;
  /** Every request so far. */
  readonly seen: readonly Seen[];
  /** Requests that are neither answered nor closed yet. */
  readonly underWay: number;
  /** The most requests under way at one moment. */
  readonly most: number;
}

/**
 * Starts a peer, in a test or at the top of its file. `target` is the service's base URL. `inVain` is called where a
 * request waits for an answer, or for its rest, that does not come.
 */
export async function startPeer(
  target: string,
  fateOf: (request: Seen) => Fate | Promise<Fate>,
  inVain: () => void = () => {},
): Promise<Peer> {
  const seen: Seen[] = [];
  let underWay = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    response.once('close', () => {
      underWay -= 1;
    });
    const body = await bodyOf(request);
    const { method = '', url = '', headers } = request;
    const one: Seen = { number: seen.length + 1, method, path: url, headers, body };
    seen.push(one);
    await meet(await fateOf(one), one, target, response, inVain);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    get underWay() {
      return underWay;
    },
    get most() {
      return most;
    },
  };
}

async function meet(
  fate: Fate,
  seen: Seen,
  target: string,
  response: ServerResponse,
  inVain: () => void,
): Promise<void> {
  if (fate === 'close') return void response.destroy();
  if (fate === 'hang') return inVain();
  if (typeof fate === 'object') {
    response.writeHead(fate.status, fate.headers).end(fate.body ?? '');
    return;
  }
  const answer = await forward(seen, target);
  if (fate === 'lose') return void response.destroy();
  if (fate === 'stall') {
    response
      .writeHead(answer.status, { 'Content-Type': 'application/json' })
      .write(answer.text.slice(0, -20), inVain);
    return;
  }
  const text = fate === 'truncate' ? answer.text.slice(0, -20) : answer.text;
  response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text);
}

async function forward({ method, path, headers, body }: Seen, target: string) {
  const kept = ['x-api-key', 'content-type', 'idempotency-key', 'accept-language'];
  const response = await fetch(`${target}${path}`, {
    method,
    headers: Object.entries(headers).filter(([name]) => kept.includes(name)) as [string, string][],
    body: method === 'POST' ? body : null,
  });
  return { status: response.status, text: await response.text() };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
