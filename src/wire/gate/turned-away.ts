/**
 * Answers connections over the limit with a constant 500, without an HTTP parser; a reset would tell the client nothing
 * (D37). The answer waits a moment, so that a client which comes again at once costs little. Touches sockets and its
 * clock. docs/front-door.md ("Limits") has the rule.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import { requestText } from '../contract/texts.ts';

/** The client should have its answer within 2 seconds of its connect, the time in the system's queue included. */
const HELD_MS = 700;
/** The time that a client which still sends has to read the answer. A reset would discard the answer. */
const LINGER_MS = 1_000;
/**
 * The most connections without their answer, which take file descriptors. For one more, the oldest is answered at once.
 */
const MOST_HELD = 5_120;
/** The most connections with their answer. For one more, the oldest is closed. */
const MOST_TOLD = 3_072;
const TICK_MS = 50;

const BODY = JSON.stringify({ error: requestText('internal', 'en') });
/** The answer to a connection that has no place. */
export const TURNED_AWAY = Buffer.from(
  [
    'HTTP/1.1 500 Internal Server Error',
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
    'Retry-After: 2',
    'Connection: close',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    '',
    BODY,
  ].join('\r\n'),
);

interface Held {
  readonly socket: Socket;
  readonly until: number;
}

export class TurnedAway {
  /** In the order of their times. */
  #held: Held[] = [];
  #lingering: Held[] = [];
  #timer: Timer | null = null;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Answers the connection in a moment and closes it. Reads nothing of it before. */
  add(socket: Socket): void {
    const now = this.#clock.monotonicMs();
    socket.on('error', () => {});
    socket.pause();
    this.#held.push({ socket, until: now + HELD_MS });
    const longestHeld = this.#held.length > MOST_HELD ? this.#held.shift() : undefined;
    if (longestHeld !== undefined) this.#tell(longestHeld.socket, now);
    if (this.#lingering.length > MOST_TOLD) this.#lingering.shift()?.socket.destroy();
    this.#timer ??= this.#clock.every(TICK_MS, () => this.#tick());
  }

  /** Answers all at once: the listener closes. */
  end(): void {
    const now = this.#clock.monotonicMs();
    for (const { socket } of this.#held.splice(0)) this.#tell(socket, now);
  }

  /** Writes the answer. The close comes later: bytes of the client that were not read make the close a reset. */
  #tell(socket: Socket, now: number): void {
    if (socket.destroyed) return;
    socket.end(TURNED_AWAY);
    this.#lingering.push({ socket, until: now + LINGER_MS });
  }

  #tick(): void {
    const now = this.#clock.monotonicMs();
    for (const { socket } of takeUntil(this.#held, now)) {
      this.#tell(socket, now);
    }
    for (const { socket } of takeUntil(this.#lingering, now)) socket.destroy();
    if (this.#held.length + this.#lingering.length > 0 || this.#timer === null) return;
    this.#timer.cancel();
    this.#timer = null;
  }
}

function takeUntil(held: Held[], now: number): Held[] {
  const later = held.findIndex(({ until }) => until > now);
  return held.splice(0, later < 0 ? held.length : later);
}
