/** A proxy between a service and its PostgreSQL, or a client and its service, that breaks the traffic on demand. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from './eventually.ts';

/**
 * What happens to the marked statement, by default the registering one, or request:
 * - `before`: the connection dies and the server never gets the statement;
 * - `at_once`: the server gets the statement, and the connection dies on both sides while the statement runs;
 * - `after`: the statement runs and commits, and the connection dies before the answer comes;
 * - `hole`: as `after`, and from then on nothing passes;
 * - `swallow`: from there on nothing passes in either direction, and nothing is closed;
 * - `panic`: as `after`, but the client first gets the error of a full disk, as if the server ended by it;
 * - `late`: as `swallow`, but the server gets the statement at `deliver`, whatever happened to the client.
 */
export type Fault = 'before' | 'at_once' | 'after' | 'hole' | 'swallow' | 'panic' | 'late';

/**
 * How an error with this severity begins. A server writes the first word in its language, and the second in English.
 */
const ERROR = Buffer.from('SERROR\0VERROR\0');
/** As long as ERROR, in no language. */
const TRANSLATED = 'FALLO';

const PANIC = Buffer.from('SPANIC\0VPANIC\0C53100\0Mno space left\0\0');

/** The message of the protocol. */
function panicMessage(): Buffer {
  const head = Buffer.from('E\0\0\0\0', 'latin1');
  head.writeInt32BE(4 + PANIC.length, 1);
  return Buffer.concat([head, PANIC]);
}

/** Where the traffic goes, and by default the statement that registers. */
interface Address {
  readonly host: string;
  readonly port: number;
}
const REGISTERS = 'register_batches';

/** A proxy between a client and a server. */
export class Middleman {
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  port = 0;
  /** Where new connections go. */
  target: Address;
  /** The faults of the next marked statements, in their order. */
  readonly faults: Fault[] = [];
  readonly #held: { upstream: Socket; chunks: Buffer[] }[] = [];
  /** Nothing passes, and nothing is closed. */
  blackHole = false;
  /** How long everything takes on its way, in each direction. */
  latencyMs = 0;
  readonly #mark: string;
  /** Changes what the server answers. */
  forge: ((answer: Buffer) => Buffer) | null = null;
  /** Errors come in another language than English. */
  translates = false;

  /** `mark`: what a statement contains that `faults` are for. */
  constructor(target: Address, mark = REGISTERS) {
    this.target = target;
    this.#mark = mark;
  }

  /** Listens; from the second time on, on the same port. */
  async start(): Promise<void> {
    const server = createServer((client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as { port: number }).port;
  }

  /** From now on connections are refused, and open ones are ended. */
  async stop(): Promise<void> {
    this.#server?.close();
    this.dropAll();
  }

  dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Traffic passes again. Lost traffic does not come back, so its connections are ended. */
  heal(): void {
    this.blackHole = false;
    this.dropAll();
  }

  /** Sends the late statements to the server; resolves when the server has worked them off. */
  async deliver(): Promise<void> {
    const held = this.#held.splice(0);
    await Promise.all(
      held.map(({ upstream, chunks }) => {
        const closed = once(upstream, 'close');
        upstream.end(Buffer.concat(chunks));
        return closed;
      }),
    );
  }

  #accept(client: Socket): void {
    this.#track(client);
    if (this.blackHole) {
      client.resume();
      return;
    }
    const upstream = connect(this.target);
    this.#track(upstream);
    const [toServer, toClient] = [this.#writer(upstream), this.#writer(client)];
    const drop = () => {
      client.destroySoon();
      upstream.destroy();
    };
    let answer: 'pass' | 'drop' | 'hole' | 'swallow' | 'panic' = 'pass';
    let late: Buffer[] | null = null;
    client.on('data', (chunk: Buffer) => {
      late?.push(chunk);
      if (this.blackHole || answer === 'swallow') return;
      const fault = chunk.includes(this.#mark) ? this.faults.shift() : undefined;
      switch (fault) {
        case 'before':
          return drop();
        case 'swallow':
          answer = 'swallow';
          return;
        case 'late':
          late = [chunk];
          this.#held.push({ upstream, chunks: late });
          answer = 'swallow';
          return;
        case 'at_once':
          upstream.end(chunk);
          client.destroy();
          return;
        case 'after':
          answer = 'drop';
          break;
        case 'hole':
        case 'panic':
          answer = fault;
      }
      toServer(chunk);
    });
    upstream.on('data', (chunk) => {
      if (this.blackHole || answer === 'swallow') return;
      if (answer === 'hole') this.blackHole = true;
      if (answer === 'panic') client.end(panicMessage());
      if (answer === 'drop' || answer === 'hole' || answer === 'panic') return drop();
      if (this.translates) translate(chunk);
      toClient(this.forge === null ? chunk : this.forge(chunk));
    });
    client.on('close', () => {
      if (late === null) upstream.end();
    });
    upstream.on('close', () => client.destroy());
  }

  /** Writes in order, each chunk after the latency of its time. */
  #writer(socket: Socket): (chunk: Buffer) => void {
    let waiting = Promise.resolve();
    let isWaiting = 0;
    return (chunk) => {
      if (this.latencyMs === 0 && isWaiting === 0) return void socket.write(chunk);
      isWaiting += 1;
      const due = pause(this.latencyMs);
      waiting = waiting.then(async () => {
        await due;
        isWaiting -= 1;
        if (!socket.destroyed) socket.write(chunk);
      });
    };
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

function translate(chunk: Buffer): void {
  const at = chunk.indexOf(ERROR);
  if (at >= 0) chunk.write(TRANSLATED, at + 1);
}
