/**
 * Keeps all connections of a listener, with the limits on their number and on the time of a request (D37;
 * docs/front-door.md, "Limits"). Touches sockets and its clock.
 */
import { isIPv6, type Socket } from 'node:net';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import { IncomingConnection } from './connection.ts';
import { GivingWay } from './giving-way.ts';
import { TurnedAway } from './turned-away.ts';

/** The limits of a listener's connections. */
export interface ConnectionLimits {
  /**
   * The most connections. One more replaces a connection that may give way; if there is none, the new one is turned
   * away.
   */
  readonly all: number;
  /** The most connections from one public address. IPv6 counts by /64. Private addresses do not count. */
  readonly perAddress: number;
  /** Milliseconds from the first byte of a request to the close of its connection; 9.6 s by default. */
  readonly closedAfterMs?: number;
}

/** The limits of a listener: of its connections, and of the time of a request (D37). Tests have other ones. */
export interface ListenerLimits {
  readonly connections: ConnectionLimits;
  /** Milliseconds until a request has its answer. */
  readonly answerWithinMs: number;
}

/** D37 allows 10 s. */
export const CLOSED_AFTER_MS = 9_600;
const CHECK_EVERY_MS = 200;
/** Loopback, private and link-local addresses belong to a proxy, whose clients share them, or to a machine nearby. */
const PRIVATE = /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe[89ab])/;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #onUnanswered: () => void;
  readonly #open = new Map<IncomingConnection, string | null>();
  readonly #clock: Clock;
  readonly #givingWay: GivingWay<IncomingConnection>;
  readonly #turnedAway: TurnedAway;
  readonly #perAddress = new Map<string, number>();
  #overdueCheck: Timer | undefined;

  /**
   * Calls `onUnanswered` for each request that was read as a whole and whose connection is closed without an answer.
   */
  constructor(limits: ConnectionLimits, clock: Clock, onUnanswered: () => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#givingWay = new GivingWay(clock);
    this.#turnedAway = new TurnedAway(clock);
    this.#onUnanswered = onUnanswered;
  }

  /** Makes the connection of an accepted socket. Over the limits it turns the socket away and returns null. */
  admit(socket: Socket): IncomingConnection | null {
    const group = addressGroup(socket.remoteAddress ?? '');
    const fromThere = group === null ? 0 : (this.#perAddress.get(group) ?? 0);
    if (fromThere >= this.#limits.perAddress || !(this.#hasRoom() || this.#givingWay.makeRoom())) {
      this.#turnedAway.add(socket);
      return null;
    }
    const connection = new IncomingConnection(socket, this.#givingWay, this.#clock, (it) => this.#forget(it));
    this.#open.set(connection, group);
    if (group !== null) this.#perAddress.set(group, fromThere + 1);
    this.#overdueCheck ??= this.#clock.every(CHECK_EVERY_MS, () => this.#closeOverdue(), { ref: false });
    return connection;
  }

  /** Call this when the listener closes. */
  end(): void {
    this.#turnedAway.end();
  }

  #hasRoom(): boolean {
    return this.#open.size - this.#givingWay.told < this.#limits.all;
  }

  #forget(connection: IncomingConnection): void {
    this.#givingWay.forget(connection);
    const group = this.#open.get(connection);
    if (!this.#open.delete(connection)) return;
    if (typeof group === 'string') {
      const left = (this.#perAddress.get(group) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(group);
      else this.#perAddress.set(group, left);
    }
    if (this.#open.size > 0) return;
    this.#overdueCheck?.cancel();
    this.#overdueCheck = undefined;
  }

  #closeOverdue(): void {
    const latestStart = this.#clock.monotonicMs() - (this.#limits.closedAfterMs ?? CLOSED_AFTER_MS);
    for (const connection of this.#open.keys()) {
      if (connection.startedAt === null || connection.startedAt > latestStart) continue;
      if (connection.unanswered !== null) this.#onUnanswered();
      connection.destroy();
    }
  }
}

/** The group under which addresses count together; null for an address that many clients may share. */
export function addressGroup(address: string): string | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (plain === '' || PRIVATE.test(plain)) return null;
  if (!isIPv6(plain)) return plain;
  // `::` in the first half makes the group shorter. The addresses of one network still get the same group.
  return plain.split('::', 1)[0]?.split(':', 4).join(':') ?? plain;
}
