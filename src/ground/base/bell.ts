/**
 * Wakes a loop of the same process as soon as work for it is committed, so that it need not wait for its next look.
 * Touches memory and the timers of its `Clock`. src/program/queue/README.md says how loops rest.
 */
import type { Clock } from './clock.ts';

export class Bell {
  #rung = false;
  #wake: (() => void)[] = [];

  /** Wakes everybody who waits; if nobody waits, the next wait ends at once. */
  ring(): void {
    const waiting = this.#wake;
    this.#wake = [];
    this.#rung = waiting.length === 0;
    for (const wake of waiting) wake();
  }

  /** Resolves at the next ring, after `ms`, or if the signal aborts. Never rejects. */
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
