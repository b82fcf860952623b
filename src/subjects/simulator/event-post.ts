/** Carries the channel's events to the service: together, later, twice, or in another order. */

import type { ChannelEvent } from '../../domain/message/channel-event.ts';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import { happens, type SimulatorFaults } from './faults.ts';

/** A doubled event comes again after this time, in milliseconds. */
const AGAIN_MS = 300;
/** An event that later ones may overtake comes so much later at most. */
const OVERTAKEN_MS = 3_000;
/** Events within this time are passed to `tell` together. */
const TOGETHER_MS = 100;

export type Tell = (events: readonly ChannelEvent[]) => Promise<void>;

export class EventPost {
  readonly #tell: Tell;
  readonly #faults: () => SimulatorFaults;
  readonly #clock: Clock;
  #untold: ChannelEvent[] = [];
  #telling: Promise<void> | null = null;
  readonly #underway = new Set<Timer>();

  /** `tell` gets events, several at once. Where `tell` throws for events that no caller waits for, they are lost. */
  constructor(tell: Tell, faults: () => SimulatorFaults, clock: Clock) {
    this.#tell = tell;
    this.#faults = faults;
    this.#clock = clock;
  }

  /**
   * Passes on what a person did. Resolves when that is applied, or at once where other events may overtake it. Throws
   * the error of `tell`.
   */
  async report(event: ChannelEvent): Promise<void> {
    const { doubledShare, reorderedShare } = this.#faults();
    if (happens(reorderedShare)) this.#overtaken(event);
    else await this.#tell([event]);
    if (!happens(doubledShare)) return;
    if (happens(reorderedShare)) this.#overtaken(event);
    else await this.#tell([event]);
  }

  /** Passes on an event of the channel itself after some time. `make` is called then. */
  post(afterMs: number, make: () => ChannelEvent): void {
    const { doubledShare, reorderedShare } = this.#faults();
    const heldMs = happens(reorderedShare) ? Math.random() * OVERTAKEN_MS : 0;
    this.#later(afterMs + heldMs, () => {
      const event = make();
      this.#queue(event);
      if (happens(doubledShare)) this.#later(AGAIN_MS, () => this.#queue(event));
    });
  }

  /** Passes on the events that are due, and drops later events. */
  async close(): Promise<void> {
    for (const timer of this.#underway) timer.cancel();
    this.#underway.clear();
    await this.#telling;
  }

  #overtaken(event: ChannelEvent): void {
    this.#later(Math.random() * OVERTAKEN_MS, () => this.#queue(event));
  }

  #later(afterMs: number, act: () => void): void {
    const timer = this.#clock.after(afterMs, () => {
      this.#underway.delete(timer);
      act();
    });
    this.#underway.add(timer);
  }

  #queue(event: ChannelEvent): void {
    this.#untold.push(event);
    this.#telling ??= this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.length > 0) {
      await this.#clock.sleep(TOGETHER_MS);
      const events = this.#untold;
      this.#untold = [];
      await this.#tell(events).catch(() => {});
    }
    this.#telling = null;
  }
}
