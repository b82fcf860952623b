/** A server whose answers have no end, each in its own way. The reader must end them. */
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { after } from 'node:test';
import { gzipSync } from 'node:zlib';

const KIB = 1_024;
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** The first bytes of an answer, and the bytes that follow without end. */
interface Endless {
  readonly first: string;
  readonly rest: Buffer;
  /** A piece comes with the request and then with each `more()`; without it they come as fast as the reader reads. */
  readonly isSlow?: true;
}

/** Answers that are larger than any bound in bytes. */
export const TOO_LONG = {
  'a body without a length': { first: `${OK}\r\n`, rest: Buffer.alloc(64 * KIB, ' ') },
  'a body with a length': {
    first: `${OK}Content-Length: 1000000000000\r\n\r\n`,
    rest: Buffer.alloc(64 * KIB, ' '),
  },
  // A quarter of a million of them reach the bound. In chunks of one byte that takes a reader ten seconds of CPU.
  'small chunks': {
    first: `${OK}Transfer-Encoding: chunked\r\n\r\n`,
    rest: Buffer.from(`10\r\n${' '.repeat(16)}\r\n`.repeat(2 * KIB)),
  },
  'a small body that unpacks to a large one': {
    first: `${OK}Content-Encoding: gzip\r\n\r\n`,
    rest: gzipSync(Buffer.alloc(64 * KIB * KIB, ' ')),
  },
} as const satisfies Record<string, Endless>;

/** Answers that never begin or never get far. */
export const TOO_SLOW = {
  'a body that drips': { first: `${OK}\r\n`, rest: Buffer.from(' '), isSlow: true },
  'a head that drips': { first: OK, rest: Buffer.from('X'), isSlow: true },
  'interim answers that drip': {
    first: '',
    rest: Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'),
    isSlow: true,
  },
} as const satisfies Record<string, Endless>;

/** Heads that are larger than any bound. */
export const TOO_MUCH_BEFORE = {
  'headers without end': { first: OK, rest: Buffer.from(`X-More: ${'x'.repeat(KIB)}\r\n`) },
  'a header without end': { first: `${OK}X-More: `, rest: Buffer.alloc(16 * KIB, 'x') },
  'interim answers without end': {
    first: '',
    rest: Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(KIB)),
  },
} as const satisfies Record<string, Endless>;

export interface HostileServer {
  readonly url: string;
  /** Bytes that left so far, over all connections. */
  readonly sent: number;
  readonly requests: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Sends the next piece of a slow answer over each connection. */
  more(): void;
}

/** Answers every connection in this way as soon as it sends something. Ends with the tests. */
export async function startHostileServer({ first, rest, isSlow }: Endless): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  /** What sends the next piece of each slow answer. */
  const asked = new Set<() => void>();
  let sent = 0;
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => {
      requests += 1;
      socket.resume();
      socket.write(first);
      const next = () => {
        if (socket.destroyed) return;
        sent += rest.length;
        const goesOn = socket.write(rest);
        if (isSlow) asked.add(next);
        else if (goesOn) setImmediate(next);
        else socket.once('drain', next);
      };
      next();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get sent() {
      return sent;
    },
    get requests() {
      return requests;
    },
    get open() {
      return sockets.size;
    },
    more() {
      const pieces = [...asked];
      asked.clear();
      for (const piece of pieces) piece();
    },
  };
}
