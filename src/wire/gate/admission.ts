/**
 * Decides which requests are worked on, and when (D37; ARCHITECTURE, "Who is served when"). Touches its clock alone.
 * The work at one time is bounded; other requests wait by partner, and partners take turns. A request is refused if, by
 * the measured rate of service, it would wait too long: for the backlog of its own partner, and for the turns that
 * other partners have meanwhile.
 */
import type { PartnerId } from '../../domain/partner/credential.ts';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import { OverloadError } from '../../ground/base/registration-failure.ts';
import { FairQueue } from './fair-queue.ts';

// The first part: how much work the service has lately done in a second. The caller measures the time.

/** Older measurements hardly count, in milliseconds. */
const MEMORY_MS = 1_000;

export class ServiceRate {
  #served: number;
  #ms = MEMORY_MS;

  /** `perSecond` is assumed until a measurement comes. */
  constructor(perSecond: number) {
    this.#served = (perSecond * MEMORY_MS) / 1000;
  }

  /** Adds what was served in the `ms` milliseconds since the last call. */
  add(ms: number, served: number): void {
    const kept = Math.exp(-ms / MEMORY_MS);
    this.#served = this.#served * kept + served;
    this.#ms = this.#ms * kept + ms;
  }

  get perSecond(): number {
    return (this.#served / this.#ms) * 1000;
  }
}

/** Longest expected wait for admission, in milliseconds. */
const MAX_WAIT_MS = 2_000;
/**
 * Longest real wait. A request that has waited longer than the expected limit stays in the queue until this one,
 * because its turn is near.
 */
export const LONGEST_WAIT_MS = 3_500;
/**
 * How long a refusal on arrival is held back. Otherwise a client that ignores `Retry-After` and retries without a pause
 * would cause more work by refusals than by batches.
 */
const REFUSE_AFTER_MS = 500;
/** Cost of waiting requests that one turn of the event loop admits; the last one may be larger. */
const ADMITTED_AT_ONCE = 100;
/** How often waiting requests are judged again. */
const JUDGE_MS = 200;
/** Cost a second that is assumed until it is measured. */
const FIRST_GUESS = 30_000;
/** The longest `Retry-After`, because a longer forecast is worth nothing. */
const MAX_RETRY_AFTER_S = 30;
/** Refusals are reported together, this long after the first. */
const TELL_AFTER_MS = 5_000;

/** No partner has this id. */
const NOBODY = 0 as PartnerId;

/**
 * What a request costs, in applications. 256 bytes count as one application, which is about the size of one: a body
 * that is large for another reason is work too. A request without a body was measured as the work of 5 applications,
 * and an event without its envelope as less than one.
 */
export function costOf(bodyBytes: number, events = 0): number {
  return 5 + bodyBytes / 256 + events;
}

/**
 * What it costs to open envelopes, in applications: a small one was measured as the work of 6, 2 KiB more as that of 1.
 */
export function costOfEnvelopes(envelopes: number, bytes: number): number {
  return 6 * envelopes + bytes / 2048;
}

/** Call once, when the work is done. */
export type Leave = () => void;

interface WaitingRequest {
  readonly partnerId: PartnerId;
  readonly cost: number;
  readonly since: number;
  readonly deadline: number;
  admit(leave: Leave): void;
  refuse(error: OverloadError): void;
}

interface AdmissionOptions {
  /** About the most cost that is worked on at one time. */
  readonly limit: number;
  readonly clock: Clock;
  /** Called now and then with the number of refused requests by partner. */
  readonly tell: (refused: ReadonlyMap<PartnerId, number>) => void;
}

export class Admission {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #tell: (refused: ReadonlyMap<PartnerId, number>) => void;
  readonly #queue = new FairQueue<WaitingRequest, PartnerId>();
  readonly #rate = new ServiceRate(FIRST_GUESS);
  #atWork = 0;
  /**
   * The rate is measured from this time on. It is measured only while requests wait, because an idle service serves
   * less than it could.
   */
  #measuredAt = 0;
  #judging: Timer | null = null;
  /** The next admission is due in the next turn of the event loop. */
  #isDue = false;
  #refused = new Map<PartnerId, number>();

  constructor({ limit, clock, tell }: AdmissionOptions) {
    this.#limit = limit;
    this.#clock = clock;
    this.#tell = tell;
  }

  /** The queue at this moment, for the metrics: costs in applications, and the wait of a partner that has no queue. */
  load(): { waiting: number; atWork: number; expectedMs: number } {
    return {
      waiting: this.#queue.waiting,
      atWork: this.#atWork,
      expectedMs: this.#expectedMs(NOBODY, costOf(0)),
    };
  }

  /**
   * Resolves when the request is admitted. Throws `OverloadError` if that is expected to take too long, or takes too
   * long. `deadline` is on `Clock.monotonicMs`.
   */
  async enter(partnerId: PartnerId, cost: number, deadline: number): Promise<Leave> {
    if (this.#queue.waiting === 0 && this.#atWork < this.#limit) return this.#begin(cost);
    const ms = this.#expectedMs(partnerId, cost);
    if (ms > MAX_WAIT_MS) return this.#refuseSoon(partnerId, ms);
    return new Promise((admit, refuse) => {
      const since = this.#clock.monotonicMs();
      if (this.#queue.waiting === 0) this.#startWaiting(since);
      this.#queue.add(partnerId, cost, { partnerId, cost, since, deadline, admit, refuse });
    });
  }

  /**
   * Throws `OverloadError`, a moment later, if the partner's backlog with `cost` more would take too long. Calls
   * `onRefusing` before that moment.
   */
  async check(partnerId: PartnerId, cost: number, onRefusing: () => void): Promise<void> {
    const ms = this.#expectedMs(partnerId, cost);
    if (ms <= MAX_WAIT_MS) return;
    onRefusing();
    await this.#refuseSoon(partnerId, ms);
  }

  async #refuseSoon(partnerId: PartnerId, expectedMs: number): Promise<never> {
    await this.#clock.sleep(REFUSE_AFTER_MS);
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
   * Admits in a turn of the event loop of its own, and only some cost at a time: an admitted request begins with work
   * that takes the processor, and the answers of finished requests go out before it.
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

  /**
   * The expected wait in milliseconds. A queue within `limit` counts as no wait: if the measured rate fell to nothing,
   * requests still get in, and the rate is measured again.
   */
  #expectedMs(partnerId: PartnerId, more: number): number {
    if (this.#queue.waiting + more <= this.#limit) return 0;
    return (this.#queue.ahead(partnerId, more) / this.#rate.perSecond) * 1000;
  }

  #startWaiting(now: number): void {
    this.#measuredAt = now;
    this.#judging = this.#clock.every(JUDGE_MS, () => this.#judge());
  }

  #stopWaiting(): void {
    this.#judging?.cancel();
    this.#judging = null;
  }

  #measure(served: number): void {
    const now = this.#clock.monotonicMs();
    this.#rate.add(now - this.#measuredAt, served);
    this.#measuredAt = now;
  }

  /**
   * Refuses the requests that waited too long, and the newest requests of each partner whose wait would now be too
   * long.
   */
  #judge(): void {
    this.#measure(0);
    const now = this.#clock.monotonicMs();
    const late = this.#queue.takeOldestWhile(
      ({ since, deadline }) => now > Math.min(since + LONGEST_WAIT_MS, deadline),
    );
    const newest = this.#queue.takeNewestWhile((partnerId) => this.#expectedMs(partnerId, 0) > MAX_WAIT_MS);
    for (const { partnerId, refuse } of [...late, ...newest]) refuse(this.#refusal(partnerId, MAX_WAIT_MS));
    if (this.#queue.waiting === 0) this.#stopWaiting();
  }

  #refusal(partnerId: PartnerId, expectedMs: number): OverloadError {
    if (this.#refused.size === 0) {
      const tell = () => {
        this.#tell(this.#refused);
        this.#refused = new Map();
      };
      this.#clock.after(TELL_AFTER_MS, tell, { ref: false });
    }
    this.#refused.set(partnerId, (this.#refused.get(partnerId) ?? 0) + 1);
    // The client returns while a second of work is left, so that the service always has work.
    const seconds = Math.ceil((expectedMs - MAX_WAIT_MS / 2) / 1000);
    return new OverloadError(Math.min(seconds, MAX_RETRY_AFTER_S));
  }
}
