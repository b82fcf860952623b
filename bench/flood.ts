/**
 * A load that takes any answer, in a process of its own. It is a closed loop on `connections` keep-alive connections.
 * With `perSecond` it is an open loop that sends on time, on at most so many connections. It counts answers, refusals
 * and closed connections, and the time of each from the request's first byte or its connect.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodies } from './applicants.ts';
import { serve } from './phase.ts';

export interface Flood {
  readonly url: string;
  readonly apiKey: string;
  readonly size: number;
  readonly connections: number;
  /** Requests a second; null for a closed loop. */
  readonly perSecond: number | null;
  readonly ms: number;
  readonly stream: number;
}

/** Milliseconds; NaN where nothing was measured. */
interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface FloodResult {
  /** Answers 200, from the connect, or the first byte of a later request, to the last byte of the answer. */
  readonly answered: Latencies;
  /** Answers 500 with `Retry-After`. */
  readonly refused: Latencies;
  /** Connections closed without an answer. */
  readonly closed: Latencies;
  /** Other answers, by status. */
  readonly others: Readonly<Record<string, number>>;
  /** Requests that the open loop could not send, because all its connections were busy. */
  readonly unsent: number;
  readonly applicationsPerSecond: number;
  /** The time of the last request that was not answered within SLOW_MS, in milliseconds from the start; 0 for none. */
  readonly lastSlowMs: number;
}

const SLOW_MS = 500;
/** The longest wait for answers after the last request. */
const DRAIN_MS = 20_000;
const TICK_MS = 4;

serve<Flood, FloodResult>(async (flood) => {
  const answered: number[] = [];
  const refused: number[] = [];
  const closed: number[] = [];
  const others: Record<string, number> = {};
  const start = performance.now();
  const isOver = () => performance.now() - start >= flood.ms;
  const nextRequest = requests(flood);
  const free: Client[] = [];
  const clients = new Set<Client>();
  let answeredInTime = 0;
  let unsent = 0;
  let lastSlowMs = 0;

  const open = () => {
    const client = new Client(flood.url, {
      onAnswer(status, { retryAfter, isLast }, ms) {
        if (status !== 200 || ms > SLOW_MS) lastSlowMs = Math.max(lastSlowMs, performance.now() - ms - start);
        if (status === 200) {
          answered.push(ms);
          if (!isOver()) answeredInTime += 1;
        } else if (status === 500 && retryAfter) refused.push(ms);
        else others[status] = (others[status] ?? 0) + 1;
        if (isLast) client.destroy();
        else if (flood.perSecond !== null) free.push(client);
        else if (!isOver()) client.send(nextRequest());
      },
      onClosed(ms) {
        if (ms !== null) {
          closed.push(ms);
          lastSlowMs = Math.max(lastSlowMs, performance.now() - ms - start);
        }
        clients.delete(client);
        const place = free.indexOf(client);
        if (place >= 0) free.splice(place, 1);
        // With a pause: a refused connection would otherwise connect again without end.
        if (flood.perSecond === null && !isOver())
          setTimeout(() => !isOver() && open().send(nextRequest()), 100);
      },
    });
    clients.add(client);
    return client;
  };

  if (flood.perSecond === null) {
    for (let index = 0; index < flood.connections; index += 1) open().send(nextRequest());
    await sleep(flood.ms);
  } else {
    for (let sent = 0; !isOver(); await sleep(TICK_MS)) {
      const due = Math.floor(((performance.now() - start) / 1000) * flood.perSecond);
      for (; sent < due; sent += 1) {
        const client = free.pop() ?? (clients.size < flood.connections ? open() : null);
        if (client === null) unsent += 1;
        else client.send(nextRequest());
      }
    }
  }
  const busy = () => [...clients].some((client) => client.isBusy);
  while (busy() && performance.now() - start < flood.ms + DRAIN_MS) await sleep(20);
  for (const client of [...clients]) client.destroy();
  return {
    answered: latencies(answered),
    refused: latencies(refused),
    closed: latencies(closed),
    others,
    unsent,
    applicationsPerSecond: (answeredInTime * flood.size) / (flood.ms / 1000),
    lastSlowMs,
  };
});

function requests({ url, apiKey, size, stream }: Flood): () => Buffer {
  const { hostname, pathname } = new URL(url);
  const nextBody = bodies(size, stream);
  const start = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n`;
  return () => {
    const body = nextBody();
    return Buffer.concat([Buffer.from(`${start}Content-Length: ${body.length}\r\n\r\n`), body]);
  };
}

interface Listener {
  /** `isLast`: the answer ends its connection. */
  onAnswer(
    status: number,
    told: { readonly retryAfter: boolean; readonly isLast: boolean },
    ms: number,
  ): void;
  /** `ms` is null where no request was under way. */
  onClosed(ms: number | null): void;
}

/** A connection with at most one request under way. */
class Client {
  readonly #socket: Socket;
  #sentAt: number | null = null;
  /** Bytes of the answer's body that are still to come; null while its head is incomplete. */
  #left: number | null = null;
  #head = '';

  constructor(url: string, listener: Listener) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => {
      const ms = performance.now() - (this.#sentAt ?? Number.NaN);
      if (!this.#isWhole(chunk)) return;
      const status = Number(this.#head.slice(9, 12));
      const retryAfter = /\r\nretry-after: \d/i.test(this.#head);
      const isLast = /\r\nconnection: close/i.test(this.#head);
      this.#head = '';
      this.#left = null;
      this.#sentAt = null;
      listener.onAnswer(status, { retryAfter, isLast }, ms);
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      const sentAt = this.#sentAt;
      this.#sentAt = null;
      listener.onClosed(sentAt === null ? null : performance.now() - sentAt);
    });
  }

  get isBusy(): boolean {
    return this.#sentAt !== null;
  }

  send(request: Buffer): void {
    if (!this.#socket.connecting) {
      this.#sentAt = performance.now();
      this.#socket.write(request);
      return;
    }
    // The clock starts with the connect: a connection may wait in the system's queue for longer than for its answer.
    this.#sentAt = performance.now();
    this.#socket.once('connect', () => this.#socket.write(request));
  }

  destroy(): void {
    this.#sentAt = null;
    this.#socket.destroy();
  }

  #isWhole(chunk: Buffer): boolean {
    if (this.#left !== null) {
      this.#left -= chunk.length;
      return this.#left <= 0;
    }
    // The head nearly always comes in one piece. Pieces of a cut head are joined here.
    this.#head += chunk.toString('latin1', 0, Math.min(chunk.length, 1_000));
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1]);
    const cut = this.#head.length - Math.min(chunk.length, 1_000);
    this.#left = length - (chunk.length - (end + 4 - cut));
    return this.#left <= 0;
  }
}

function latencies(values: number[]): Latencies {
  values.sort((a, b) => a - b);
  const at = (share: number) =>
    values[Math.min(Math.floor(values.length * share), values.length - 1)] ?? Number.NaN;
  return { count: values.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
