/**
 * Queues that are served in turn (D37): by start-time fair queueing each has the same share of what is served, by
 * cost, as long as it has something waiting. Pure: no clock, no I/O.
 */

interface QueuedItem<Item> {
  readonly item: Item;
  readonly cost: number;
}

interface Queue<Item> {
  readonly entries: QueuedItem<Item>[];
  /** The cost of its entries. */
  waiting: number;
  /** When its first entry is due, on the clock of what was served. */
  due: number;
}

export class FairQueue<Item> {
  readonly #queues = new Map<number, Queue<Item>>();
  #waiting = 0;
  /** The clock of what was served: when the last entry that was taken was due. */
  #now = 0;

  /** The cost of all that waits. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Puts an item at the end of its owner's queue; `cost` is above 0. */
  add(owner: number, cost: number, item: Item): void {
    let queue = this.#queues.get(owner);
    if (queue === undefined) {
      queue = { entries: [], waiting: 0, due: this.#now };
      this.#queues.set(owner, queue);
    }
    // Whoever had nothing waiting has saved up no turns; what it was served ahead of the others it still owes.
    if (queue.entries.length === 0) queue.due = Math.max(queue.due, this.#now);
    queue.entries.push({ item, cost });
    queue.waiting += cost;
    this.#waiting += cost;
  }

  /** Takes the first item of the owner whose turn it is; undefined where nothing waits. */
  take(): Item | undefined {
    let next: Queue<Item> | undefined;
    for (const queue of this.#queues.values()) {
      if (queue.entries.length > 0 && (next === undefined || queue.due < next.due)) next = queue;
    }
    const entry = next?.entries.shift();
    if (next === undefined || entry === undefined) return undefined;
    this.#now = next.due;
    next.due += entry.cost;
    this.#forget(next, entry);
    return entry.item;
  }

  /** Takes items, the oldest of each owner first, as long as `condition` holds for the next one. */
  takeOldestWhile(condition: (item: Item) => boolean): Item[] {
    return this.#takeWhile(0, (_owner, item) => condition(item));
  }

  /** Takes items, the newest of each owner first, as long as `condition` holds for the owner. */
  takeNewestWhile(condition: (owner: number) => boolean): Item[] {
    return this.#takeWhile(-1, condition);
  }

  /**
   * What is served before and with the owner's last item, had it `more` waiting: all its own, and as much of every
   * other owner at most.
   */
  ahead(owner: number, more: number): number {
    const own = (this.#queues.get(owner)?.waiting ?? 0) + more;
    let sum = own;
    for (const [other, { waiting }] of this.#queues) if (other !== owner) sum += Math.min(waiting, own);
    return sum;
  }

  #takeWhile(place: 0 | -1, condition: (owner: number, item: Item) => boolean): Item[] {
    const taken: Item[] = [];
    for (const [owner, queue] of this.#queues) {
      for (;;) {
        const entry = queue.entries.at(place);
        if (entry === undefined || !condition(owner, entry.item)) break;
        queue.entries.splice(place, 1);
        this.#forget(queue, entry);
        taken.push(entry.item);
      }
    }
    return taken;
  }

  #forget(queue: Queue<Item>, { cost }: QueuedItem<Item>): void {
    queue.waiting -= cost;
    this.#waiting -= cost;
    // Nobody is ahead of anybody where nobody waits.
    if (this.#waiting === 0) this.#queues.clear();
  }
}
