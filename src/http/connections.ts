/** Everybody who is connected to a listener: how many at most, and for how long a request may take (D37). */
import { isIPv6, type Socket } from 'node:net';
import { IncomingConnection } from './connection.ts';

export interface ConnectionLimits {
  /** At most; one more takes the place of the one that is idle the longest, or is refused where none is. */
  readonly all: number;
  /** Of these, from one public address; IPv6 counts by /64, and private addresses are not counted. */
  readonly perAddress: number;
}

/** From the first byte of a request, in milliseconds: D37 allows 10 s. */
const CLOSED_AFTER_MS = 9_600;
const SWEEP_EVERY_MS = 200;
/** Loopback, private and link-local: a proxy, whose clients share its address, or a neighbour. */
const PRIVATE = /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe[89ab])/;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onUnanswered: () => void;
  readonly #open = new Map<IncomingConnection, string | null>();
  /** Longest idle first. */
  readonly #idle = new Set<IncomingConnection>();
  readonly #perAddress = new Map<string, number>();
  #sweep: NodeJS.Timeout | undefined;

  /** `onUnanswered` hears of each request that was read as a whole, and whose connection is closed without an answer. */
  constructor(limits: ConnectionLimits, onUnanswered: () => void) {
    this.#limits = limits;
    this.#onUnanswered = onUnanswered;
  }

  /** The connection of a socket that was just accepted; null, and the socket closed, where there are too many. */
  admit(socket: Socket): IncomingConnection | null {
    const group = addressGroup(socket.remoteAddress ?? '');
    const fromThere = group === null ? 0 : (this.#perAddress.get(group) ?? 0);
    const [longestIdle] = this.#idle;
    if (fromThere >= this.#limits.perAddress || (this.#open.size >= this.#limits.all && !longestIdle)) {
      socket.destroy();
      return null;
    }
    if (this.#open.size >= this.#limits.all) longestIdle?.destroy();
    const connection = new IncomingConnection(socket, {
      idle: (it) => this.#idle.add(it),
      busy: (it) => this.#idle.delete(it),
      closed: (it) => this.#forget(it),
    });
    this.#open.set(connection, group);
    if (group !== null) this.#perAddress.set(group, fromThere + 1);
    this.#sweep ??= setInterval(() => this.#closeOverdue(), SWEEP_EVERY_MS).unref();
    return connection;
  }

  #forget(connection: IncomingConnection): void {
    const group = this.#open.get(connection);
    if (!this.#open.delete(connection)) return;
    this.#idle.delete(connection);
    if (typeof group === 'string') {
      const left = (this.#perAddress.get(group) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(group);
      else this.#perAddress.set(group, left);
    }
    if (this.#open.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #closeOverdue(): void {
    const latestStart = performance.now() - CLOSED_AFTER_MS;
    for (const connection of this.#open.keys()) {
      if (connection.startedAt === null || connection.startedAt > latestStart) continue;
      if (connection.unanswered !== null) this.#onUnanswered();
      connection.destroy();
    }
  }
}

/** The key under which addresses count as one; null for an address that many clients may share. */
export function addressGroup(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (plain === '' || PRIVATE.test(plain)) return null;
  if (!isIPv6(plain)) return plain;
  // Zeros that `::` stands for within the first half make them no less the same network's.
  return plain.split('::', 1)[0]?.split(':', 4).join(':') ?? plain;
}
