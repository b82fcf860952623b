/** How much is served a second, of late. Pure: whoever measures tells the time that went by. */

/** What is longer ago than this hardly counts, in milliseconds. */
const MEMORY_MS = 1_000;

export class ServiceRate {
  #served: number;
  #ms = MEMORY_MS;

  /** `perSecond` is taken until something was measured. */
  constructor(perSecond: number) {
    this.#served = (perSecond * MEMORY_MS) / 1000;
  }

  /** So much was served in the next `ms` milliseconds. */
  add(ms: number, served: number): void {
    const kept = Math.exp(-ms / MEMORY_MS);
    this.#served = this.#served * kept + served;
    this.#ms = this.#ms * kept + ms;
  }

  get perSecond(): number {
    return (this.#served / this.#ms) * 1000;
  }
}
