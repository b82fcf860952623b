/** Gathers what waits at the same time into one run. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Runs work in the asynchronous context of its making. */
type InContext = ReturnType<typeof AsyncLocalStorage.snapshot>;

/**
 * Runs work in a bounded number of lanes; items that arrive meanwhile go together. An item never waits for a timer,
 * only for a free lane (ARCHITECTURE, "A request's way"). A run is in the asynchronous context of its first item.
 */
export class Gathering<Item> {
  readonly #lanes: number;
  readonly #maxWaiting: number;
  readonly #take: (waiting: Item[]) => Item[];
  readonly #run: (items: Item[]) => Promise<void>;
  readonly #waiting: Item[] = [];
  /** Where each waiting item came from. A lane that is never idle would keep the context of its first item for ever. */
  readonly #contexts = new Map<Item, InContext>();
  #busy = 0;
  /** A start is due at the end of this turn of the event loop. */
  #isDue = false;

  /**
   * `take` removes the next items from the queue, at least one if there is one. `run` must not reject. At most
   * `maxWaiting` items wait.
   */
  constructor(options: {
    lanes: number;
    maxWaiting: number;
    take: (waiting: Item[]) => Item[];
    run: (items: Item[]) => Promise<void>;
  }) {
    this.#lanes = options.lanes;
    this.#maxWaiting = options.maxWaiting;
    this.#take = options.take;
    this.#run = options.run;
  }

  /** Queues an item, before the last items for which `goesBefore` is true. Returns false if the queue is full. */
  add(item: Item, goesBefore: (other: Item) => boolean = () => false): boolean {
    if (this.#waiting.length >= this.#maxWaiting) return false;
    let index = this.#waiting.length;
    while (index > 0 && goesBefore(this.#waiting[index - 1]!)) index -= 1;
    this.#waiting.splice(index, 0, item);
    this.#contexts.set(item, AsyncLocalStorage.snapshot());
    this.#startSoon();
    return true;
  }

  /** Queues items that were taken before: they go before all others and are never refused. */
  putBack(items: readonly Item[]): void {
    this.#waiting.unshift(...items);
    for (const item of items) this.#contexts.set(item, AsyncLocalStorage.snapshot());
    this.#start();
  }

  /** Items of the same turn of the event loop go together; otherwise the first of them would take a lane alone. */
  #startSoon(): void {
    if (this.#isDue || this.#busy === this.#lanes) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#busy < this.#lanes && this.#waiting.length > 0) {
      this.#busy += 1;
      const items = this.#take(this.#waiting);
      const inContext = this.#contexts.get(items[0]!) ?? AsyncLocalStorage.snapshot();
      for (const item of items) this.#contexts.delete(item);
      void inContext(() => this.#run(items)).finally(() => {
        this.#busy -= 1;
        this.#start();
      });
    }
  }
}
