/**
 * A channel within the process: takes every message, sends the events of a real channel, and fails where it is set
 * to.
 */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageId } from '../applications/rules/ids.ts';
import type { Channel, MediaResult, UploadFile, UploadResult } from '../messages/channels/channel.ts';
import type { ChannelEvent, ChannelStatus } from '../messages/rules/channel-event.ts';
import type { OutgoingMessage } from '../messages/rules/outgoing-message.ts';
import { type OutgoingReply, replyFaults } from '../messages/rules/reply.ts';
import type { SendResult } from '../messages/rules/send-result.ts';
import { SimulatedFiles } from './files.ts';

/** Random faults; shares are from 0 to 1. */
export interface SimulatorFaults {
  /** The share of sends that are refused for now. */
  readonly failShare: number;
  /** The time that each answer takes, in milliseconds. */
  readonly delayMs: number;
  /** The share of accepted messages whose answer is lost. Their events still come. */
  readonly lostShare: number;
  /** The share of events that come twice. */
  readonly doubledShare: number;
}

/** No faults. */
export const NO_FAULTS: SimulatorFaults = { failShare: 0, delayMs: 0, lostShare: 0, doubledShare: 0 };
/** The longest `delayMs`. The delivery waits longer than this for an answer. */
export const MAX_DELAY_MS = 10_000;

/** The time from the send to each event, in milliseconds. */
const JOURNEY: readonly (readonly [status: ChannelStatus, afterMs: number])[] = [
  ['sent', 150],
  ['delivered', 600],
];
/** The events of a lost answer come this much later, so that people can see the state `uncertain` on the page. */
const LOST_MS = 3_000;
/** A doubled event comes again after this time, in milliseconds. */
const AGAIN_MS = 300;
/** Events within this time are passed to `tell` together. */
const TOGETHER_MS = 100;

/** Replies and read marks that are kept. */
const MOST_REPLIES = 5_000;

type Tell = (events: readonly ChannelEvent[]) => Promise<void>;

export class Simulator implements Channel {
  /** Kept in this process only. A change takes effect at the next send or event. */
  faults = NO_FAULTS;
  /** Messages that go out at any hour, because a person said so on the page. */
  readonly released = new Set<MessageId>();
  /** The newest replies on phones, oldest first. */
  readonly replies: OutgoingReply[] = [];
  /** The ids of persons' newest messages that were marked as read. */
  readonly read = new Set<string>();
  /** The files of both directions, by media id. */
  readonly files = new SimulatedFiles();
  readonly #tell: Tell;
  #untold: ChannelEvent[] = [];
  #telling: Promise<void> | null = null;
  readonly #underway = new Set<NodeJS.Timeout>();

  /** `tell` gets events, several at once. Where `tell` throws for events that no caller waits for, they are lost. */
  constructor(tell: Tell) {
    this.#tell = tell;
  }

  send({ callback }: OutgoingMessage, signal: AbortSignal): Promise<SendResult> {
    return this.#take(callback, signal, () => {});
  }

  /** Keeps the newest replies that reached their phone (`replies`). */
  sendReply(reply: OutgoingReply, signal: AbortSignal): Promise<SendResult> {
    if (replyFaults(reply).length > 0) return Promise.resolve({ kind: 'give_up', reason: 'unsendable' });
    return this.#take(reply.callback, signal, () => {
      this.replies.push(reply);
      if (this.replies.length > MOST_REPLIES) this.replies.shift();
    });
  }

  /** Keeps the ids of the newest messages that were marked as read (`read`). */
  async markRead(channelMessageId: string): Promise<void> {
    this.read.add(channelMessageId);
    if (this.read.size > MOST_REPLIES) this.read.delete(this.read.values().next().value!);
  }

  async fetchMedia(mediaId: string, { maxBytes }: { readonly maxBytes: number }): Promise<MediaResult> {
    const file = this.files.get(mediaId);
    if (file === null) return { kind: 'gone' };
    const { bytes, contentType } = file;
    if (bytes.length > maxBytes) return { kind: 'too_large' };
    return { kind: 'media', bytes, contentType, sha256: hash('sha256', bytes, 'hex') };
  }

  async uploadMedia(file: UploadFile): Promise<UploadResult> {
    return { kind: 'uploaded', mediaId: this.files.keep(file) };
  }

  /** `arrived` is called where the message reaches its phone, whether or not the answer is lost. */
  async #take(callback: string, signal: AbortSignal, arrived: () => void): Promise<SendResult> {
    const { failShare, delayMs, lostShare } = this.faults;
    if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return { kind: 'retry', reason: 'aborted' };
    if (happens(failShare)) return { kind: 'retry', reason: 'simulated_failure' };
    const channelMessageId = simulatedId(callback);
    arrived();
    const lost = happens(lostShare);
    for (const [status, afterMs] of JOURNEY) {
      this.#later(afterMs + (lost ? LOST_MS : 0), () =>
        this.#add({ kind: 'status', channelMessageId, callback, status, at: new Date(), failure: null }),
      );
    }
    return lost ? { kind: 'uncertain', reason: 'timeout' } : { kind: 'accepted', channelMessageId };
  }

  /** Reports an act of the owner of a phone. Resolves when the event is applied; throws the error of `tell`. */
  async report(event: ChannelEvent): Promise<void> {
    await this.#tell([event]);
    if (happens(this.faults.doubledShare)) await this.#tell([event]);
  }

  /** Passes on the events that are due, and drops later events. */
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
