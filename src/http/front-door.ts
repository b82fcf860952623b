/** The HTTP server of a listener. It limits the cost of one client for the others (D37). */
import { type IncomingMessage, type RequestListener, Server } from 'node:http';
import { Socket } from 'node:net';
import type { IncomingConnection } from './connection.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { TunnelError } from './unknown-method.ts';

interface FrontDoorOptions {
  readonly limits: ConnectionLimits;
  /** Milliseconds after which a connection without a request is closed. */
  readonly keepAliveMs: number;
  /** Called for each request that was read as a whole and got no answer in time. */
  readonly onUnanswered: () => void;
}

/** Makes the servers of one listener, one for each address of its host name. The servers share the limits. */
export function frontDoor(options: FrontDoorOptions): (handler: RequestListener) => Server {
  const connections = new Connections(options.limits, options.onUnanswered);
  return (handler) => new FrontDoor(handler, connections, options.keepAliveMs);
}

class FrontDoor extends Server {
  readonly #connections: Connections;

  constructor(handler: RequestListener, connections: Connections, keepAliveTimeout: number) {
    // `Connections` limits the time of a request from its first byte. `namesOneHost` checks the Host header.
    super({ keepAliveTimeout, requestTimeout: 0, headersTimeout: 0, requireHostHeader: false });
    this.#connections = connections;
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

/** The URL of a request; `/` where the path has a broken escape, which Fastify would answer before any hook. */
export function decodableUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  try {
    const [path = ''] = url.split('?', 1);
    decodeURI(path);
    return url;
  } catch {
    return '/';
  }
}

/** With two Host headers, a proxy and the service could each use another one. */
function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}
