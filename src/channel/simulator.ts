/** A channel without an outside: takes every message, tells of its way as a real one would, and fails as told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelEvent, ChannelStatus } from '../domain/message/channel-event.ts';
import type { OutgoingMessage } from '../domain/message/outgoing-message.ts';
import type { SendResult } from '../domain/message/send-result.ts';
import type { Channel } from './channel.ts';

/** What goes wrong, by chance; shares are from 0 to 1. */
export interface SimulatorFaults {
  /** Of the sends, those that are refused for now. */
  readonly failShare: number;
  /** How long each answer takes, in milliseconds. */
  readonly delayMs: number;
  /** Of the messages that were taken, those whose answer is lost; their events still come. */
  readonly lostShare: number;
  /** Of the events, those that come twice. */
  readonly doubledShare: number;
}

/** Everything goes well. */
export const NO_FAULTS: SimulatorFaults = { failShare: 0, delayMs: 0, lostShare: 0, doubledShare: 0 };
/** The longest `delayMs`: well within the time that an answer may take. */
export const MAX_DELAY_MS = 10_000;

/** How long after the send each event comes, in milliseconds. */
const JOURNEY: readonly (readonly [status: ChannelStatus, afterMs: number])[] = [
  ['sent', 150],
  ['delivered', 600],
];
/** The events of a lost answer come so much later, so that people can see what it is to be uncertain. */
const LOST_MS = 3_000;
/** An event comes again after this, in milliseconds. */
const AGAIN_MS = 300;
/** Events of this long are told together. */
const TOGETHER_MS = 100;

type Tell = (events: readonly ChannelEvent[]) => Promise<void>;

export class Simulator implements Channel {
  /** Held by this process; of the next send or event on. */
  faults = NO_FAULTS;
  readonly #tell: Tell;
  #untold: ChannelEvent[] = [];
  #telling: Promise<void> | null = null;
  readonly #underway = new Set<NodeJS.Timeout>();

  /** `tell` hears of events, several at once; what it throws for those that nobody waits for is not repeated. */
  constructor(tell: Tell) {
    this.#tell = tell;
  }

  async send({ callback }: OutgoingMessage, signal: AbortSignal): Promise<SendResult> {
    const { failShare, delayMs, lostShare } = this.faults;
    if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return { kind: 'retry', reason: 'aborted' };
    if (happens(failShare)) return { kind: 'retry', reason: 'simulated_failure' };
    const channelMessageId = simulatedId(callback);
    const lost = happens(lostShare);
    for (const [status, afterMs] of JOURNEY) {
      this.#later(afterMs + (lost ? LOST_MS : 0), () =>
        this.#add({ kind: 'status', channelMessageId, callback, status, at: new Date(), failure: null }),
      );
    }
    return lost ? { kind: 'uncertain', reason: 'timeout' } : { kind: 'accepted', channelMessageId };
  }

  /** The owner of a phone did something; resolves when it is applied, and throws what `tell` throws. */
  async report(event: ChannelEvent): Promise<void> {
    await this.#tell([event]);
    if (happens(this.faults.doubledShare)) await this.#tell([event]);
  }

  /** Lets events that are due be told; those still to come are forgotten. */
  async close(): Promise<void> {
    for (const timer of this.#underway) clearTimeout(timer);
    this.#underway.clear();
    await this.#telling;
  }

  #later(afterMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#underway.delete(timer);
      act();
    }, afterMs);
    this.#underway.add(timer);
  }

  #add(event: ChannelEvent): void {
    this.#queue(event);
    if (happens(this.faults.doubledShare)) this.#later(AGAIN_MS, () => this.#queue(event));
  }

  #queue(event: ChannelEvent): void {
    this.#untold.push(event);
    this.#telling ??= this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.length > 0) {
      await sleep(TOGETHER_MS);
      const events = this.#untold;
      this.#untold = [];
      await this.#tell(events).catch(() => {});
    }
    this.#telling = null;
  }
}

/** The id that the simulator gives to the message with this callback. */
export function simulatedId(callback: string): string {
  return `simulated.${callback}`;
}

function happens(share: number): boolean {
  return Math.random() < share;
}
