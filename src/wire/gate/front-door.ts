/**
 * The HTTP server of a listener, which limits what one client can cost the others (D37; docs/front-door.md). Touches
 * the network.
 */
import { type IncomingMessage, type RequestListener, Server } from 'node:http';
import { type Server as NetServer, Socket } from 'node:net';
import type { Clock } from '../../ground/base/clock.ts';
import { BACKLOG, canShareAddress, openAcceptors } from './acceptors.ts';
import type { IncomingConnection } from './connection.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { TunnelError } from './unreadable.ts';

interface FrontDoorOptions {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** Milliseconds after which a connection without a request is closed. */
  readonly keepAliveMs: number;
  /** Called for each request that was read as a whole and got no answer in time. */
  readonly onUnanswered: () => void;
  /** True for a listener that accepts many connections in a turn of the event loop. */
  readonly acceptsMany?: boolean;
}

/** Makes the servers of one listener, one for each address of its host name. The servers share the limits. */
export function frontDoor(options: FrontDoorOptions): (handler: RequestListener) => Server {
  const connections = new Connections(options.limits, options.clock, options.onUnanswered);
  return (handler) => new FrontDoor(handler, connections, options);
}

class FrontDoor extends Server {
  readonly #connections: Connections;
  readonly #sharesAddress: boolean;
  #acceptors: readonly NetServer[] = [];

  constructor(
    handler: RequestListener,
    connections: Connections,
    { keepAliveMs, acceptsMany }: FrontDoorOptions,
  ) {
    // `Connections` limits the time of a request from its first byte. `namesOneHost` checks the Host header.
    super({ keepAliveTimeout: keepAliveMs, requestTimeout: 0, headersTimeout: 0, requireHostHeader: false });
    this.#connections = connections;
    this.#sharesAddress = acceptsMany === true && canShareAddress;
    this.on('request', (request, response) => {
      connectionOf(request).begin(request, response);
      if (namesOneHost(request)) handler(request, response);
      else if (!this.emit('clientError', new Error('no Host header, or more than one'), request.socket)) {
        request.socket.destroy();
      }
    });
    // Without this handler, Node closes the connection without an answer.
    this.on('connect', ({ url = '', headers }, socket) => {
      const error = new TunnelError(url, headers['accept-language']);
      if (!this.emit('clientError', error, socket)) socket.destroy();
    });
    // An unknown expectation is ignored. Without this handler, Node answers 417 without a body.
    this.on('checkExpectation', (request, response) => this.emit('request', request, response));
  }

  override listen(...values: unknown[]): this {
    const [options, ...rest] = values;
    if (!this.#sharesAddress || typeof options !== 'object') return super.listen(...(values as []));
    this.once('listening', () => {
      this.#acceptors = openAcceptors(this, (socket) => this.emit('connection', socket));
    });
    return super.listen({ ...options, reusePort: true, backlog: BACKLOG }, ...(rest as []));
  }

  /** Calls back when the connections of all listeners are closed. */
  override close(callback?: (error?: Error) => void): this {
    this.#connections.end();
    const others = this.#acceptors.map((acceptor) => new Promise((closed) => acceptor.close(closed)));
    return super.close((error) => void Promise.all(others).then(() => callback?.(error)));
  }

  /** Node documents that a server accepts any duplex stream that is emitted as a connection. */
  override emit(event: string, ...values: unknown[]): boolean {
    const [socket] = values;
    if (event !== 'connection' || !(socket instanceof Socket)) return super.emit(event, ...values);
    const connection = this.#connections.admit(socket);
    return connection === null || super.emit(event, connection);
  }
}

/** The connection of a request. */
export function connectionOf(request: IncomingMessage): IncomingConnection {
  return request.socket as unknown as IncomingConnection;
}

/** The URL of a request; `/` if the path has a broken escape, because Fastify would answer that before any hook. */
export function decodableUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  try {
    const [path = ''] = url.split('?', 1);
    decodeURI(path);
    return url;
  } catch {
    return '/';
  }
}

/** With two Host headers, a proxy and the service could each use a different one. */
function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}
