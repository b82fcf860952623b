/** Stores what must not be lost because a statement failed: many items in one statement, and each bad item apart. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Gathering } from '../storage/gathering.ts';
import { eachApart } from '../storage/row-fault.ts';

interface Job<Item> {
  readonly item: Item;
  readonly giveUpAt: number;
  done(): void;
}

const MAX_TOGETHER = 500;
const RETRY_PAUSE_MS = 500;

export class PatientStore<Item> {
  readonly #keepTryingMs: number;
  readonly #gathering: Gathering<Job<Item>>;

  /**
   * `store` stores items, and must bear to be run again with items that it was run with. An item that cannot be stored,
   * or not within `keepTryingMs`, is lost, and `onLost` hears of it. `conclude` runs when items are stored or lost; it
   * must not reject.
   */
  constructor(
    keepTryingMs: number,
    options: {
      store: (items: readonly Item[]) => Promise<void>;
      onLost: (items: readonly Item[], error: unknown) => void;
      conclude?: (items: readonly Item[]) => Promise<void>;
    },
  ) {
    const { store, onLost, conclude } = options;
    this.#keepTryingMs = keepTryingMs;
    this.#gathering = new Gathering<Job<Item>>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: async (jobs) => {
        await storeAll(jobs, store, onLost);
        await conclude?.(itemsOf(jobs));
        for (const job of jobs) job.done();
      },
    });
  }

  /** Resolves when the item is stored, or lost. */
  keep(item: Item): Promise<void> {
    return new Promise((done) => {
      this.#gathering.add({ item, giveUpAt: performance.now() + this.#keepTryingMs, done });
    });
  }
}

async function storeAll<Item>(
  jobs: readonly Job<Item>[],
  store: (items: readonly Item[]) => Promise<void>,
  onLost: (items: readonly Item[], error: unknown) => void,
): Promise<void> {
  for (let left = jobs; left.length > 0; ) {
    try {
      return await eachApart(itemsOf(left), store, (item, error) => onLost([item], error));
    } catch (error) {
      await sleep(RETRY_PAUSE_MS);
      const late = left.filter(({ giveUpAt }) => performance.now() >= giveUpAt);
      if (late.length > 0) onLost(itemsOf(late), error);
      left = left.filter((job) => !late.includes(job));
    }
  }
}

function itemsOf<Item>(jobs: readonly Job<Item>[]): Item[] {
  return jobs.map(({ item }) => item);
}
