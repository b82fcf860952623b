/** How much work the service has done a second of late. Pure: the caller measures the time. */

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
