/**
 * Stores items that a failed statement must not lose: many in one statement, tried again, and a bad item does not stop
 * the others. Touches only its clock and the given `store`. README.md has the rule.
 */
import type { Clock } from '../../ground/base/clock.ts';
import { Gathering } from '../../ground/postgres/gathering.ts';
import { eachApart } from '../../ground/postgres/row-fault.ts';

interface PendingWrite<Item> {
  readonly item: Item;
  readonly giveUpAt: number;
  done(): void;
}

const MAX_TOGETHER = 500;
const RETRY_PAUSE_MS = 500;

export class RetryingWriter<Item> {
  readonly #clock: Clock;
  readonly #keepTryingMs: number;
  readonly #gathering: Gathering<PendingWrite<Item>>;

  /**
   * `store` stores items; a second run with the same items must be harmless. `onLost` is called with items that
   * cannot be stored, or not within `keepTryingMs`. `conclude` runs when items are stored or lost; it must not
   * reject.
   */
  constructor(
    keepTryingMs: number,
    options: {
      clock: Clock;
      store: (items: readonly Item[]) => Promise<void>;
      onLost: (items: readonly Item[], error: unknown) => void;
      conclude?: (items: readonly Item[]) => Promise<void>;
    },
  ) {
    const { clock, store, onLost, conclude } = options;
    this.#clock = clock;
    this.#keepTryingMs = keepTryingMs;
    this.#gathering = new Gathering<PendingWrite<Item>>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: async (writes) => {
        await storeAll(writes, clock, store, onLost);
        await conclude?.(itemsOf(writes));
        for (const write of writes) write.done();
      },
    });
  }

  /** Resolves when the item is stored, or lost. */
  write(item: Item): Promise<void> {
    return new Promise((done) => {
      this.#gathering.add({ item, giveUpAt: this.#clock.monotonicMs() + this.#keepTryingMs, done });
    });
  }
}

async function storeAll<Item>(
  writes: readonly PendingWrite<Item>[],
  clock: Clock,
  store: (items: readonly Item[]) => Promise<void>,
  onLost: (items: readonly Item[], error: unknown) => void,
): Promise<void> {
  for (let left = writes; left.length > 0; ) {
    try {
      return await eachApart(itemsOf(left), store, (item, error) => onLost([item], error));
    } catch (error) {
      await clock.sleep(RETRY_PAUSE_MS);
      const late = left.filter(({ giveUpAt }) => clock.monotonicMs() >= giveUpAt);
      if (late.length > 0) onLost(itemsOf(late), error);
      left = left.filter((write) => !late.includes(write));
    }
  }
}

function itemsOf<Item>(writes: readonly PendingWrite<Item>[]): Item[] {
  return writes.map(({ item }) => item);
}
