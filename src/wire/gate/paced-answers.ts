/**
 * Sends the answers that anybody can ask for at a bounded pace (D37; ARCHITECTURE, "A request's way"). While they wait,
 * their connections give way. Touches its clock and connections.
 */
import type { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import type { IncomingConnection } from './connection.ts';

// The pace of answers to requests without a valid key (D37). Anybody can send such requests, each as soon as the last
// one is answered. So a few of these answers go at once, and the others wait, while requests of partners go first.
// Nothing is remembered about a key or an address: each request is looked up and judged again (D21).

/** Answers a second. A flood on all 2,048 connections waits 5 s for each answer; D37 allows 10 s. */
export const ANSWERS_PER_SECOND = 400;
/** Answers that go at once after a quiet time: a person who reads `/docs` waits for nothing. */
export const AT_ONCE = 50;
const TICK_MS = 25;

export class AnonymousPace {
  readonly #waiting = new Set<() => void>();
  /** The number of answers that may go now. */
  #free = AT_ONCE;
  readonly #clock: Clock;
  #countedAt: number;
  #timer: Timer | null = null;
  #isEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedAt = clock.monotonicMs();
  }

  /**
   * Calls `go` when the answer may go: at once, or after the answers that wait already. If that moment would come after
   * `deadline`, on `Clock.monotonicMs`, the service is slow for another reason: then calls `go` at once. Returns
   * whether the answer waits.
   */
  wait(deadline: number, go: () => void): boolean {
    this.#count();
    const mayGoAt = this.#countedAt + (this.#waiting.size / ANSWERS_PER_SECOND) * 1000;
    const isNext = this.#waiting.size === 0 && this.#free >= 1;
    if (isNext) this.#free -= 1;
    if (isNext || mayGoAt > deadline || this.#isEnded) {
      go();
      return false;
    }
    this.#waiting.add(go);
    this.#timer ??= this.#clock.every(TICK_MS, () => {
      this.#count();
      this.#release(Math.floor(this.#free));
    });
    return true;
  }

  /**
   * Drops an answer whose client has left. Otherwise clients that reset their connections would use up the pace of
   * others.
   */
  leave(go: () => void): void {
    if (this.#waiting.delete(go)) go();
  }

  /** Lets all answers go, also those to come: the listener closes. */
  end(): void {
    this.#isEnded = true;
    this.#release(this.#waiting.size);
  }

  /** A process that was late may not send more than `AT_ONCE` answers at once. */
  #count(): void {
    const now = this.#clock.monotonicMs();
    this.#free = Math.min(this.#free + ((now - this.#countedAt) / 1000) * ANSWERS_PER_SECOND, AT_ONCE);
    this.#countedAt = now;
  }

  #release(most: number): void {
    const now = [...this.#waiting].slice(0, most);
    for (const go of now) this.#waiting.delete(go);
    this.#free -= now.length;
    if (this.#waiting.size === 0 && this.#timer !== null) {
      this.#timer.cancel();
      this.#timer = null;
    }
    for (const go of now) go();
  }
}

interface PacedAnswer {
  readonly connection: IncomingConnection;
  /** Emits `close` when the client has left. */
  readonly client: EventEmitter;
  /** The latest time of the answer, on `Clock.monotonicMs`. */
  readonly deadline: number;
  send(): void;
  /** Makes the answer the last one of its connection. */
  makeLast(): void;
}

export class PacedAnswers {
  readonly #pace: AnonymousPace;

  constructor(clock: Clock) {
    this.#pace = new AnonymousPace(clock);
  }

  /** Sends the answer when its pace allows it, or when its connection gives way. */
  add({ connection, client, deadline, send, makeLast }: PacedAnswer): void {
    const go = () => {
      // The connection may give way from now on, because a client may leave its answer unread.
      connection.mayGiveWay();
      send();
    };
    if (!this.#pace.wait(deadline, go)) return;
    client.once('close', () => this.#pace.leave(go));
    connection.onGivingWay(() => {
      makeLast();
      this.#pace.leave(go);
    });
  }

  /** Sends all answers, also those to come: the listener closes. */
  end(): void {
    this.#pace.end();
  }
}
