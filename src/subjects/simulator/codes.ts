/** The second phones of the simulator's persons: they show the codes that come over another way than the chat. */
import type { Phone } from '../../domain/phone/phone.ts';
import type { Clock } from '../../ground/base/clock.ts';

/** A text on a second phone. */
export interface ReceivedCode {
  /** As an SMS would have it: the code, who asks and for what. */
  readonly text: string;
  /** By this process's clock. */
  readonly at: Date;
}

/** Newest codes of one phone that are kept. */
const OF_A_PHONE = 3;
/** The phones whose last code is the oldest give way beyond this. */
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

  /** Oldest first. */
  of(phone: Phone): readonly ReceivedCode[] {
    return this.#codes.get(phone) ?? [];
  }
}
