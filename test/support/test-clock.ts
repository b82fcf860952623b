/** A clock that stands still until the test moves it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/ground/base/clock.ts';
import { PATIENCE_MS } from './eventually.ts';

interface Pending {
  readonly ring: () => void;
  readonly everyMs: number | null;
  /** For how long the timer was set. */
  readonly forMs: number;
  atMs: number;
}

/** So many rings at one instant are work that goes round without a pause. */
const MOST_AT_ONCE = 10_000;
/** Turns of the event loop that what has rung may need until it sets its next timer. */
const TURNS = 20;

/**
 * `advance` moves the time, and rings each timer at its own instant. Work that waits for something else than this
 * clock, such as an answer of the database, goes on by itself: wait for its event, or for its next timer with
 * `untilTimers`.
 */
export class TestClock implements Clock {
  #nowMs: number;
  #monotonicMs = 1_000;
  #pending = new Set<Pending>();
  #waiting: { isMet: () => boolean; go: () => void }[] = [];

  constructor(now = '2026-11-24T15:00:00.000Z') {
    this.#nowMs = Date.parse(now);
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        timer.cancel();
        reject(Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), ABORTED));
      };
      const timer = this.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }

  after(ms: number, ring: () => void): Timer {
    return this.#set({ ring, everyMs: null, forMs: ms, atMs: this.#monotonicMs + Math.max(ms, 0) });
  }

  every(ms: number, ring: () => void): Timer {
    return this.#set({ ring, everyMs: ms, forMs: ms, atMs: this.#monotonicMs + ms });
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    this.after(ms, () =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    );
    return controller.signal;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#pending.size;
  }

  /** How long until the next timer rings; undefined where none is set. */
  get nextMs(): number | undefined {
    const next = this.#next();
    return next && next.atMs - this.#monotonicMs;
  }

  /**
   * Resolves when at least so many timers are set: what was begun waits for the clock now. Where it may also end
   * without a timer, wait for both. Fails after `PATIENCE_MS` of real time.
   */
  untilTimers(count = 1): Promise<void> {
    return this.#until(`${count} timers`, () => this.#pending.size >= count);
  }

  /** As `untilTimers`, for timers that were set for so long: a limit that is known by its length. */
  untilTimer(ms: number, count = 1): Promise<void> {
    const isMet = () => [...this.#pending].filter(({ forMs }) => forMs === ms).length >= count;
    return this.#until(`${count} timers of ${ms} ms`, isMet);
  }

  /** Lets the time pass: rings what is due, each at its instant, and what that sets meanwhile. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#monotonicMs + ms;
    let atOnce = 0;
    await settle();
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      atOnce = next.atMs > this.#monotonicMs ? 0 : atOnce + 1;
      if (atOnce > MOST_AT_ONCE) throw new Error(`${MOST_AT_ONCE} timers rang, and no time passed`);
      this.#pass(Math.max(next.atMs - this.#monotonicMs, 0));
      if (next.everyMs === null) this.#pending.delete(next);
      else next.atMs = this.#monotonicMs + next.everyMs;
      next.ring();
      await settle();
    }
    this.#pass(untilMs - this.#monotonicMs);
    await settle();
  }

  /** The process stands still for so long: what is due meanwhile rings late, and an interval rings once. */
  async stall(ms: number): Promise<void> {
    this.#pass(ms);
    await this.advance(0);
  }

  /** The machine's clock steps by so much, back or ahead. No timer rings. */
  step(ms: number): void {
    this.#nowMs += ms;
  }

  #until(what: string, isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        const set = [...this.#pending].map(({ forMs }) => forMs);
        reject(new Error(`waited ${PATIENCE_MS / 1_000} s for ${what}; set are timers of [${set}] ms`));
      };
      // A wait that lost a race keeps no process open.
      const limit = setTimeout(giveUp, PATIENCE_MS).unref();
      const go = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting.push({ isMet, go });
    });
  }

  #pass(ms: number): void {
    this.#monotonicMs += ms;
    this.#nowMs += ms;
  }

  #next(): Pending | undefined {
    let next: Pending | undefined;
    for (const one of this.#pending) if (next === undefined || one.atMs < next.atMs) next = one;
    return next;
  }

  #set(timer: Pending): Timer {
    this.#pending.add(timer);
    for (const { isMet, go } of this.#waiting) if (isMet()) go();
    this.#waiting = this.#waiting.filter(({ isMet }) => !isMet());
    return { cancel: () => void this.#pending.delete(timer) };
  }
}

/** A clock whose sleeps are over at once, and the time has passed. */
export class HurriedClock extends TestClock {
  override async sleep(ms: number, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    await Promise.all([super.sleep(ms, options), this.advance(ms)]);
  }
}

/**
 * A clock whose long sleeps are over at once, and the time has passed. A sleep of less than a second, after which
 * something is asked again, takes its real time: what is asked for may need it.
 */
export class LeapingClock extends HurriedClock {
  override async sleep(ms: number, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (ms < LEAST_LEAP_MS) await sleep(ms, undefined, options);
    await super.sleep(ms, options);
  }
}

const LEAST_LEAP_MS = 1_000;
const ABORTED = { name: 'AbortError', code: 'ABORT_ERR' };

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((done) => setImmediate(done));
}
