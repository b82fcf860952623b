/** Lets clients do one piece of work after the other, and holds them all between two pieces while it is closed. */
export class Gate {
  #inside = 0;
  #opened = Promise.withResolvers<void>();
  #isOpen = true;
  #onEmpty: (() => void) | null = null;

  /** Does a piece of work, as soon as the gate is open. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    while (!this.#isOpen) await this.#opened.promise;
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#onEmpty?.();
    }
  }

  /** Resolves when no piece of work is under way. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#opened = Promise.withResolvers();
    if (this.#inside > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    this.#onEmpty = null;
  }

  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }
}
