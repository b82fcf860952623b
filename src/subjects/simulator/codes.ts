/**
 * The second phones of the simulator's persons: they keep the one-time codes that come by another way than the chat
 * (docs/messages.md, "The simulator"). In memory only.
 */
import type { Phone } from '../../domain/phone/phone.ts';
import type { Clock } from '../../ground/base/clock.ts';

/** A text on a second phone. */
export interface ReceivedCode {
  /** The text of an SMS: the code, who asks for it and what for. */
  readonly text: string;
  /** By this process's clock. */
  readonly at: Date;
}

/** How many codes of one phone are kept, the newest ones. */
const OF_A_PHONE = 3;
/** Beyond this number the phones with the oldest last code are dropped. */
const MOST_PHONES = 20_000;

export class ReceivedCodes {
  readonly #clock: Clock;
  readonly #codes = new Map<Phone, ReceivedCode[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  receive(phone: Phone, text: string): void {
    const at = new Date(this.#clock.nowMs());
    const codes = [...(this.#codes.get(phone) ?? []), { text, at }].slice(-OF_A_PHONE);
    this.#codes.delete(phone);
    this.#codes.set(phone, codes);
    if (this.#codes.size > MOST_PHONES) this.#codes.delete(this.#codes.keys().next().value!);
  }

  /** The codes of a phone, oldest first. */
  of(phone: Phone): readonly ReceivedCode[] {
    return this.#codes.get(phone) ?? [];
  }
}
