/**
 * What the owners of the simulator's phones said (docs/messages.md, "The simulator"). In memory only. The service keeps
 * no readable copy, so the phones have to.
 */
import type { ApplicationId } from '../../domain/application/ids.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Clock } from '../../ground/base/clock.ts';

/** A message of a person, as the person's phone shows it. */
export interface Said {
  /** The channel's id of the message. */
  readonly messageId: string;
  readonly phone: Phone;
  /** The time that the channel tells the service. */
  readonly at: Date;
  /** The written text, the title of the tapped button, or words for something else. */
  readonly text: string;
  /** The application whose offer was tapped; null for everything else. */
  readonly interestIn: ApplicationId | null;
  /** The file that was sent; null for other messages. */
  readonly file: { readonly mediaId: string; readonly filename: string } | null;
}

/** `unheard`: the message was lost on its way to the service. */
export type SaidStatus = 'unheard' | 'sent' | 'read';

/** Beyond this number the oldest messages of all phones are dropped. */
const MOST_SAID = 20_000;
/** For this time the channel shows that an answer is being typed. */
const TYPING_MS = 25_000;

interface Kept {
  readonly said: Said;
  status: SaidStatus;
  /** Until when the phone shows that an answer is being typed, on `Clock.monotonicMs`. */
  typingUntil: number;
}

export class SaidLog {
  readonly #clock: Clock;
  /** By the channel's id, oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** The phone that wrote last stands last. */
  readonly #byPhone = new Map<Phone, Set<Kept>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(said: Said, status: SaidStatus): void {
    const kept = { said, status, typingUntil: 0 };
    this.#kept.set(said.messageId, kept);
    const ofPhone = this.#byPhone.get(said.phone) ?? new Set();
    this.#byPhone.delete(said.phone);
    this.#byPhone.set(said.phone, ofPhone.add(kept));
    if (this.#kept.size > MOST_SAID) this.#remove(this.#kept.values().next().value!);
  }

  /** Removes a message that could not be sent. */
  takeBack(messageId: string): void {
    const kept = this.#kept.get(messageId);
    if (kept !== undefined) this.#remove(kept);
  }

  /** Notes that the service has read the message and is typing an answer. An unknown message changes nothing. */
  read(messageId: string): void {
    const kept = this.#kept.get(messageId);
    if (kept === undefined) return;
    kept.status = 'read';
    kept.typingUntil = this.#clock.monotonicMs() + TYPING_MS;
  }

  /** Notes that the answer has come. */
  answered(phone: Phone): void {
    for (const kept of this.#byPhone.get(phone) ?? []) kept.typingUntil = 0;
  }

  isTyping(phone: Phone): boolean {
    const now = this.#clock.monotonicMs();
    return [...(this.#byPhone.get(phone) ?? [])].some(({ typingUntil }) => typingUntil > now);
  }

  /** The messages of a phone, oldest first. */
  of(phone: Phone): (Said & { readonly status: SaidStatus })[] {
    return [...(this.#byPhone.get(phone) ?? [])].map(({ said, status }) => ({ ...said, status }));
  }

  /** The phones with the newest messages, at most `limit`. */
  phones(limit: number): Phone[] {
    return [...this.#byPhone.keys()].slice(-limit);
  }

  #remove(kept: Kept): void {
    const { messageId, phone } = kept.said;
    this.#kept.delete(messageId);
    const ofPhone = this.#byPhone.get(phone);
    ofPhone?.delete(kept);
    if (ofPhone?.size === 0) this.#byPhone.delete(phone);
  }
}
