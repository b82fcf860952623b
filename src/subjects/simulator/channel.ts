/**
 * The simulated channel: takes every message, sends the events of a real channel, and fails as it is set to
 * (docs/messages.md, "The simulator"). Everything stays in this process: no network, no disk.
 */
import { hash, randomUUID } from 'node:crypto';
import type { MessageId } from '../../domain/application/ids.ts';
import type {
  Channel,
  MediaResult,
  OutgoingCode,
  SendResult,
  UploadFile,
  UploadResult,
} from '../../domain/message/channel.ts';
import type { ChannelEvent, ChannelStatus } from '../../domain/message/channel-event.ts';
import type { OutgoingMessage } from '../../domain/message/outgoing-message.ts';
import { type OutgoingReply, type ReplyDocument, replyFaults } from '../../domain/message/reply.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Clock, Timer } from '../../ground/base/clock.ts';
import { ReceivedCodes } from './codes.ts';
import { happens, NO_FAULTS, type SimulatorFaults } from './faults.ts';
import { type Said, SaidLog } from './said.ts';

/** A set that forgets its oldest members, so that it stays small. */
class NewestSet<T> extends Set<T> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(member: T): this {
    super.add(member);
    if (this.size > this.#most) this.delete(this.values().next().value!);
    return this;
  }
}

/** A map that does so too. */
class NewestMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value!);
    return this;
  }
}

// First part: files that persons sent and files that the service uploaded.

/** Beyond this size the oldest files are dropped. */
const MOST_BYTES = 64 * 1024 * 1024;

class SimulatedFiles {
  readonly #files = new Map<string, UploadFile>();
  #bytes = 0;

  /** Keeps a file and returns its media id. */
  keep(file: UploadFile): string {
    const mediaId = `simulated.${randomUUID()}`;
    this.#files.set(mediaId, file);
    this.#bytes += file.bytes.length;
    for (const [oldest, { bytes }] of this.#files) {
      if (this.#bytes <= MOST_BYTES || oldest === mediaId) break;
      this.#files.delete(oldest);
      this.#bytes -= bytes.length;
    }
    return mediaId;
  }

  /** The file; null: it is not kept any more. */
  get(mediaId: string): UploadFile | null {
    return this.#files.get(mediaId) ?? null;
  }
}

// Second part: carries the channel's events to the service: together, late, twice, or in another order.

/** After this time a doubled event comes again, in milliseconds. */
const AGAIN_MS = 300;
/** The longest delay of an event that later ones may overtake, in milliseconds. */
const OVERTAKEN_MS = 3_000;
/** Events within this time are passed to `tell` together. */
const TOGETHER_MS = 100;

type Tell = (events: readonly ChannelEvent[]) => Promise<void>;

class EventPost {
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
   * Passes on what a person did. Resolves when that is applied, or at once if other events may overtake it. Throws the
   * error of `tell`.
   */
  async report(event: ChannelEvent): Promise<void> {
    const { doubledShare, reorderedShare } = this.#faults();
    if (happens(reorderedShare)) this.#overtaken(event);
    else await this.#tell([event]);
    if (!happens(doubledShare)) return;
    if (happens(reorderedShare)) this.#overtaken(event);
    else await this.#tell([event]);
  }

  /** Passes on an event of the channel itself after some time. Only then `make` is called. */
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

/** How long after the send each event comes, in milliseconds. */
const JOURNEY: readonly (readonly [status: ChannelStatus, afterMs: number])[] = [
  ['sent', 150],
  ['delivered', 600],
];
/**
 * If the answer was lost, the events come this much later, so that people can see the state `uncertain` on the page.
 */
const LOST_MS = 3_000;
/** WhatsApp's code for a free text after its 24 hours (docs/messages.md). */
const WINDOW_CLOSED = '131047';

/** The most ids and phones that are kept, of each kind. */
const MOST_KEPT = 5_000;

export class Simulator implements Channel {
  /** Kept in this process only. A change takes effect at the next send or event. */
  faults = NO_FAULTS;
  /** Messages that go out at any hour, because somebody said so on the page. */
  readonly released = new Set<MessageId>();
  /** What the owners of the phones said. */
  readonly said: SaidLog;
  readonly codeWay = 'simulator';
  /** The codes on the second phones. */
  readonly codes: ReceivedCodes;
  /** The files of both directions, by media id. */
  readonly files = new SimulatedFiles();
  /** The documents of the newest replies that were accepted, by callback. */
  readonly documents = new NewestMap<string, ReplyDocument>(MOST_KEPT);
  /** The callbacks of the newest messages that were accepted and reached no phone. */
  readonly vanished = new NewestSet<string>(MOST_KEPT);
  /** The phones whose 24 hours at the channel are over, because somebody said so on the page. */
  readonly windowsOver = new NewestSet<Phone>(MOST_KEPT);
  readonly #post: EventPost;
  readonly #clock: Clock;

  /** `tell` gets events, several at once. Where `tell` throws for events that no caller waits for, they are lost. */
  constructor(tell: Tell, clock: Clock) {
    this.#clock = clock;
    this.said = new SaidLog(clock);
    this.codes = new ReceivedCodes(clock);
    this.#post = new EventPost(tell, () => this.faults, clock);
  }

  send({ callback }: OutgoingMessage, signal: AbortSignal): Promise<SendResult> {
    return this.#take(callback, signal, () => {});
  }

  /** Takes a reply. Refuses what WhatsApp refuses: a reply with a fault, and a reply after the phone's 24 hours. */
  async sendReply(reply: OutgoingReply, signal: AbortSignal): Promise<SendResult> {
    if (replyFaults(reply).length > 0) return { kind: 'give_up', reason: 'unsendable' };
    if (this.windowsOver.has(reply.phone)) return { kind: 'give_up', reason: WINDOW_CLOSED };
    if (reply.document !== undefined) this.documents.set(reply.callback, reply.document);
    return this.#take(reply.callback, signal, () => this.said.answered(reply.phone));
  }

  async markRead(channelMessageId: string): Promise<void> {
    this.said.read(channelMessageId);
  }

  async fetchMedia(mediaId: string, { maxBytes }: { readonly maxBytes: number }): Promise<MediaResult> {
    const file = happens(this.faults.goneShare) ? null : this.files.get(mediaId);
    if (file === null) return { kind: 'gone' };
    const { bytes, contentType } = file;
    if (bytes.length > maxBytes) return { kind: 'too_large' };
    return { kind: 'media', bytes, contentType, sha256: hash('sha256', bytes, 'hex') };
  }

  async uploadMedia(file: UploadFile): Promise<UploadResult> {
    return { kind: 'uploaded', mediaId: this.files.keep(file) };
  }

  /** Shows a code on the second phone of a person. A code has no status events. */
  async sendCode({ phone, text }: OutgoingCode, signal: AbortSignal): Promise<SendResult> {
    const { failShare, delayMs, lostShare, vanishedShare } = this.faults;
    if (delayMs > 0) await this.#clock.sleep(delayMs, { signal }).catch(() => {});
    if (signal.aborted) return { kind: 'retry', reason: 'aborted' };
    if (happens(failShare)) return { kind: 'retry', reason: 'simulated_failure' };
    if (!happens(vanishedShare)) this.codes.receive(phone, text);
    if (happens(lostShare)) return { kind: 'uncertain', reason: 'timeout' };
    return { kind: 'accepted', channelMessageId: `simulated.${randomUUID()}` };
  }

  /** Takes a message or a reply. `arrived` is called if it reaches its phone, even if the answer is lost. */
  async #take(callback: string, signal: AbortSignal, arrived: () => void): Promise<SendResult> {
    const { failShare, delayMs, lostShare, vanishedShare } = this.faults;
    if (delayMs > 0) await this.#clock.sleep(delayMs, { signal }).catch(() => {});
    if (signal.aborted) return { kind: 'retry', reason: 'aborted' };
    if (happens(failShare)) return { kind: 'retry', reason: 'simulated_failure' };
    const channelMessageId = simulatedId(callback);
    if (happens(vanishedShare)) {
      this.vanished.add(callback);
      return { kind: 'accepted', channelMessageId };
    }
    arrived();
    const lost = happens(lostShare);
    for (const [status, afterMs] of JOURNEY) {
      this.#post.post(afterMs + (lost ? LOST_MS : 0), () => ({
        kind: 'status',
        channelMessageId,
        callback,
        status,
        at: new Date(this.#clock.nowMs()),
        failure: null,
      }));
    }
    return lost ? { kind: 'uncertain', reason: 'timeout' } : { kind: 'accepted', channelMessageId };
  }

  /** Reports what the owner of a phone did. Resolves when the event is applied; throws the error of `tell`. */
  report(event: ChannelEvent): Promise<void> {
    return this.#post.report(event);
  }

  /** Reports a message from the owner of a phone, as `report` does, and keeps it on the phone. */
  async say(said: Said, event: ChannelEvent): Promise<void> {
    const isUnheard = happens(this.faults.unheardShare);
    this.said.add(said, isUnheard ? 'unheard' : 'sent');
    if (isUnheard) return;
    try {
      await this.report(event);
    } catch (error) {
      this.said.takeBack(said.messageId);
      throw error;
    }
  }

  /** Passes on the events that are due, and drops later events. */
  close(): Promise<void> {
    return this.#post.close();
  }
}

/** The id that the simulator gives to the message with this callback. */
export function simulatedId(callback: string): string {
  return `simulated.${callback}`;
}
