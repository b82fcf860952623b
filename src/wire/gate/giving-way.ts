/**
 * Chooses the connections that give way to a new one if a listener is full (docs/front-door.md, "Limits"):
 * those without a request, those that are slow to show who asks, and those whose request showed no valid key. Anybody
 * can open these, so they keep no partner out. Touches its clock alone. Why:
 * docs/decisions/0010-who-keeps-a-place-at-the-front-door.md.
 */
import type { Clock } from '../../ground/base/clock.ts';

interface Yielding {
  readonly destroyed: boolean;
  /** Closes the connection. A client whose request has no answer yet gets one first. */
  giveWay(): void;
  destroy(): void;
}

/**
 * A client has this time to show who asks. So new connections do not replace those that came just before, unless more
 * come in this time than the listener can hold.
 */
const UNKNOWN_MS = 250;
/**
 * A client has this time to use its connection again, because a close at that moment would leave its request
 * unanswered.
 */
const IDLE_MS = 1_000;
/**
 * The most connections that gave way and are not closed yet. They need file descriptors in addition to the open ones.
 */
const MOST_TOLD = 512;

export class GivingWay<Connection extends Yielding> {
  /** The answer is decided and waits for its pace. The value sends the answer and closes the connection. */
  readonly #answered = new Map<Connection, () => void>();
  /** It is not known yet who asks. The value is the time of the beginning, on `Clock.monotonicMs`. */
  readonly #unknown = new Map<Connection, number>();
  /** The value is the time of the beginning. */
  readonly #idle = new Map<Connection, number>();
  readonly #told = new Set<Connection>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of connections that gave way and are not closed yet. */
  get told(): number {
    return this.#told.size;
  }

  /** The connection may give way in a second: it has no request. */
  idle(connection: Connection): void {
    if (this.keep(connection)) this.#idle.set(connection, this.#clock.monotonicMs());
  }

  /** The connection may give way in a moment: it is new, or a request has begun, or somebody unknown has its answer. */
  unknown(connection: Connection): void {
    if (this.keep(connection)) this.#unknown.set(connection, this.#clock.monotonicMs());
  }

  /** The connection may give way from now on, and loses only its wait: `send` sends the answer and closes it. */
  answered(connection: Connection, send: () => void): void {
    if (this.keep(connection)) this.#answered.set(connection, send);
  }

  /** The connection keeps its place from now on. Returns false if it gave way before, or is closed. */
  keep(connection: Connection): boolean {
    this.#answered.delete(connection);
    this.#unknown.delete(connection);
    this.#idle.delete(connection);
    return !connection.destroyed && !this.#told.has(connection);
  }

  /** Call this when the connection is closed. */
  forget(connection: Connection): void {
    this.keep(connection);
    this.#told.delete(connection);
  }

  /** Lets the connection give way that loses the least, the oldest of its kind. Returns false if there is none. */
  makeRoom(): boolean {
    const [waiting] = this.#answered;
    if (waiting !== undefined) {
      const [connection, send] = waiting;
      this.#tell(connection, send);
      return true;
    }
    const now = this.#clock.monotonicMs();
    const connection =
      oldestBefore(now - UNKNOWN_MS, this.#unknown) ?? oldestBefore(now - IDLE_MS, this.#idle);
    if (connection === undefined) return false;
    this.#tell(connection, () => connection.giveWay());
    return true;
  }

  #tell(connection: Connection, tell: () => void): void {
    this.keep(connection);
    this.#told.add(connection);
    tell();
    if (this.#told.size > MOST_TOLD) this.#told.values().next().value?.destroy();
  }
}

/** The first connection, if its time is not after `latest`. */
function oldestBefore<Connection>(
  latest: number,
  [first]: Iterable<[Connection, number]>,
): Connection | undefined {
  return first !== undefined && first[1] <= latest ? first[0] : undefined;
}
