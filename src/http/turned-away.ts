/**
 * Connections over the limit. Each gets a constant answer, without an HTTP parser; a reset would tell the client nothing
 * (D37). The answer waits a moment, so that a client which comes again at once costs little.
 */
import type { Socket } from 'node:net';
import { requestText } from '../contract/texts.ts';

/** The client should have its answer within 2 seconds of its connect, the time in the system's queue included. */
const HELD_MS = 1_200;
/** The time that a client which still sends has to read the answer. A reset would discard the answer. */
const LINGER_MS = 1_000;
/** Held connections take file descriptors. One more is closed without an answer. */
const MOST = 8_192;
const TICK_MS = 50;

const BODY = JSON.stringify({ error: requestText('internal', 'en') });
const TURNED_AWAY = Buffer.from(
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
  #timer: NodeJS.Timeout | null = null;

  /** Answers the connection in a moment and closes it. Reads nothing of it before. */
  add(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#held.length + this.#lingering.length >= MOST) {
      socket.destroy();
      return;
    }
    socket.pause();
    this.#held.push({ socket, until: performance.now() + HELD_MS });
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
  }

  /** Answers all at once: the listener closes. */
  end(): void {
    const now = performance.now();
    for (const { socket } of this.#held.splice(0)) this.#tell(socket, now);
  }

  /** Writes the answer. The close comes later: bytes of the client that were not read make the close a reset. */
  #tell(socket: Socket, now: number): void {
    if (socket.destroyed) return;
    socket.end(TURNED_AWAY);
    this.#lingering.push({ socket, until: now + LINGER_MS });
  }

  #tick(): void {
    const now = performance.now();
    for (const { socket } of takeUntil(this.#held, now)) {
      this.#tell(socket, now);
    }
    for (const { socket } of takeUntil(this.#lingering, now)) socket.destroy();
    if (this.#held.length + this.#lingering.length > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

function takeUntil(held: Held[], now: number): Held[] {
  const later = held.findIndex(({ until }) => until > now);
  return held.splice(0, later < 0 ? held.length : later);
}
