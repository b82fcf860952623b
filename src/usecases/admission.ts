/**
 * Who may be worked for, and when (D37). What is at work at once is bounded; the rest waits by partner and goes in
 * turn. A partner whose own backlog would take too long, by what is really served a second, is refused at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OverloadError } from '../domain/registration-failure.ts';
import { FairQueue } from './fair-queue.ts';
import { ServiceRate } from './service-rate.ts';

/** Longest expected wait for the turn, in milliseconds. */
const MAX_WAIT_MS = 2_000;
/** Longest wait: what was slower than expected still goes, for it is next. */
export const LONGEST_WAIT_MS = 3_500;
/** Who comes again at once, whatever it was told, may not make of its refusals more work than its batches are. */
const REFUSE_AFTER_MS = 500;
const ADMITTED_AT_ONCE = 100;
/** How often what waits is judged anew. */
const JUDGE_MS = 200;
/** Cost a second that is taken until it was measured. */
const FIRST_GUESS = 30_000;
/** Nobody knows what will be in a minute. */
const MAX_RETRY_AFTER_S = 30;
/** Refusals are told together, so many milliseconds after the first. */
const TELL_AFTER_MS = 5_000;

/**
 * What a request costs, in applications: 256 bytes are taken for one, for that is about what one has. A body that is
 * large for another reason is work as well. What every request costs beside was measured as 5 applications.
 */
export function costOf(bodyBytes: number): number {
  return 5 + bodyBytes / 256;
}

/** To be called once, when the work is done. */
export type Leave = () => void;

interface WaitingRequest {
  readonly partnerId: number;
  readonly cost: number;
  readonly since: number;
  readonly deadline: number;
  admit(leave: Leave): void;
  refuse(error: OverloadError): void;
}

export class Admission {
  readonly #limit: number;
  readonly #tell: (refused: ReadonlyMap<number, number>) => void;
  readonly #queue = new FairQueue<WaitingRequest>();
  readonly #rate = new ServiceRate(FIRST_GUESS);
  #atWork = 0;
  /** The rate is measured from here, while somebody waits: only then is it what can be served. */
  #measuredAt = 0;
  #judging: NodeJS.Timeout | null = null;
  /** The next admission is due in the event loop's next turn. */
  #isDue = false;
  #refused = new Map<number, number>();

  /**
   * At most about `limit` is at work, by cost. `tell` gets, now and then, how many requests were refused by
   * partner.
   */
  constructor(options: { limit: number; tell: (refused: ReadonlyMap<number, number>) => void }) {
    this.#limit = options.limit;
    this.#tell = options.tell;
  }

  /**
   * Resolves when it is the request's turn. Throws `OverloadError` where that would take too long, or does.
   * `deadline` is on the clock of `performance.now()`.
   */
  async enter(partnerId: number, cost: number, deadline: number): Promise<Leave> {
    if (this.#queue.waiting === 0 && this.#atWork < this.#limit) return this.#begin(cost);
    const ms = this.#expectedMs(partnerId, cost);
    if (ms > MAX_WAIT_MS) return this.#refuseSoon(partnerId, ms);
    return new Promise((admit, refuse) => {
      const since = performance.now();
      if (this.#queue.waiting === 0) this.#startWaiting(since);
      this.#queue.add(partnerId, cost, { partnerId, cost, since, deadline, admit, refuse });
    });
  }

  /**
   * Throws `OverloadError`, a moment later, where the partner's backlog would take too long with so much more.
   * `onRefusing` is called before that moment.
   */
  async check(partnerId: number, cost: number, onRefusing: () => void): Promise<void> {
    const ms = this.#expectedMs(partnerId, cost);
    if (ms <= MAX_WAIT_MS) return;
    onRefusing();
    await this.#refuseSoon(partnerId, ms);
  }

  async #refuseSoon(partnerId: number, expectedMs: number): Promise<never> {
    await sleep(REFUSE_AFTER_MS);
    throw this.#refusal(partnerId, expectedMs);
  }

  #begin(cost: number): Leave {
    this.#atWork += cost;
    return () => {
      this.#atWork -= cost;
      if (this.#queue.waiting === 0) return;
      this.#measure(cost);
      this.#admitSoon();
    };
  }

  /**
   * In a turn of the event loop of its own, and a batch at a time: whoever is let in begins with work that takes the
   * processor, and what was just done has its answer to send and its lane to fill first.
   */
  #admitSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#admit();
    });
  }

  #admit(): void {
    for (let cost = 0; cost < ADMITTED_AT_ONCE && this.#atWork < this.#limit; ) {
      const waiting = this.#queue.take();
      if (waiting === undefined) break;
      waiting.admit(this.#begin(waiting.cost));
      cost += waiting.cost;
    }
    if (this.#queue.waiting === 0) this.#stopWaiting();
    else if (this.#atWork < this.#limit) this.#admitSoon();
  }

  /** A queue that is no longer than what is at work is never too long: a rate that fell to nothing recovers. */
  #expectedMs(partnerId: number, more: number): number {
    if (this.#queue.waiting + more <= this.#limit) return 0;
    return (this.#queue.ahead(partnerId, more) / this.#rate.perSecond) * 1000;
  }

  #startWaiting(now: number): void {
    this.#measuredAt = now;
    this.#judging = setInterval(() => this.#judge(), JUDGE_MS);
  }

  #stopWaiting(): void {
    clearInterval(this.#judging ?? undefined);
    this.#judging = null;
  }

  #measure(served: number): void {
    const now = performance.now();
    this.#rate.add(now - this.#measuredAt, served);
    this.#measuredAt = now;
  }

  /** Refuses what waited too long, and the newest of whoever would now wait too long. */
  #judge(): void {
    this.#measure(0);
    const now = performance.now();
    const late = this.#queue.takeOldestWhile(
      ({ since, deadline }) => now > Math.min(since + LONGEST_WAIT_MS, deadline),
    );
    const newest = this.#queue.takeNewestWhile((partnerId) => this.#expectedMs(partnerId, 0) > MAX_WAIT_MS);
    for (const { partnerId, refuse } of [...late, ...newest]) refuse(this.#refusal(partnerId, MAX_WAIT_MS));
    if (this.#queue.waiting === 0) this.#stopWaiting();
  }

  #refusal(partnerId: number, expectedMs: number): OverloadError {
    if (this.#refused.size === 0) {
      setTimeout(() => {
        this.#tell(this.#refused);
        this.#refused = new Map();
      }, TELL_AFTER_MS).unref();
    }
    this.#refused.set(partnerId, (this.#refused.get(partnerId) ?? 0) + 1);
    // By then half of what may wait has gone, and there is still work meanwhile.
    const seconds = Math.ceil((expectedMs - MAX_WAIT_MS / 2) / 1000);
    return new OverloadError(Math.min(seconds, MAX_RETRY_AFTER_S));
  }
}
