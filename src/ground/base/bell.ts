/** A bell within a process: work that was committed wakes the loop that does it before its next look. */
import type { Clock } from './clock.ts';

export class Bell {
  #rung = false;
  #wake: (() => void)[] = [];

  /** Wakes everybody who waits; where nobody does, the next wait ends at once. */
  ring(): void {
    const waiting = this.#wake;
    this.#wake = [];
    this.#rung = waiting.length === 0;
    for (const wake of waiting) wake();
  }

  /** Resolves at the next ring, after `ms`, or where the signal aborts. Never rejects. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#rung || signal.aborted) {
      this.#rung = false;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.after(ms, resolve);
    const end = () => resolve();
    signal.addEventListener('abort', end, { once: true });
    this.#wake.push(resolve);
    await promise;
    timer.cancel();
    signal.removeEventListener('abort', end);
    this.#wake = this.#wake.filter((wake) => wake !== resolve);
  }
}
