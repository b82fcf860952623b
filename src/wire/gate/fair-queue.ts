/**
 * Queues that take turns (D37; ARCHITECTURE, "Who is served when"). By start-time fair queueing each queue gets the
 * same share of the service, by cost, while it has items. Pure: no clock, no I/O. Batches that wait for a statement
 * have a second, short queue: `KeyOrder` says why.
 */

interface QueuedItem<Item> {
  readonly item: Item;
  readonly cost: number;
}

interface Queue<Item> {
  readonly entries: QueuedItem<Item>[];
  /** The sum of its entries' costs. */
  waiting: number;
  /** When its first entry is due, on the queue's clock, which counts served cost. */
  due: number;
}

export class FairQueue<Item, Owner = number> {
  readonly #queues = new Map<Owner, Queue<Item>>();
  #waiting = 0;
  /** The clock, which counts served cost: the due time of the entry that was taken last. */
  #now = 0;

  /** The cost of all waiting items. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Puts an item at the end of its owner's queue; `cost` is above 0. */
  add(owner: Owner, cost: number, item: Item): void {
    let queue = this.#queues.get(owner);
    if (queue === undefined) {
      queue = { entries: [], waiting: 0, due: this.#now };
      this.#queues.set(owner, queue);
    }
    // An owner with an empty queue saves up no turns, but still owes what it was served ahead of the others.
    if (queue.entries.length === 0) queue.due = Math.max(queue.due, this.#now);
    queue.entries.push({ item, cost });
    queue.waiting += cost;
    this.#waiting += cost;
  }

  /** Takes the first item of the owner whose turn it is; undefined if no item waits. */
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
  takeNewestWhile(condition: (owner: Owner) => boolean): Item[] {
    return this.#takeWhile(-1, condition);
  }

  /**
   * The cost that is served up to the owner's last item, if the owner had `more` waiting: all of its own, and at most
   * as much of every other owner.
   */
  ahead(owner: Owner, more: number): number {
    const own = (this.#queues.get(owner)?.waiting ?? 0) + more;
    let sum = own;
    for (const [other, { waiting }] of this.#queues) if (other !== owner) sum += Math.min(waiting, own);
    return sum;
  }

  #takeWhile(end: 0 | -1, condition: (owner: Owner, item: Item) => boolean): Item[] {
    const taken: Item[] = [];
    for (const [owner, queue] of this.#queues) {
      for (;;) {
        const entry = queue.entries.at(end);
        if (entry === undefined || !condition(owner, entry.item)) break;
        queue.entries.splice(end, 1);
        this.#forget(queue, entry);
        taken.push(entry.item);
      }
    }
    return taken;
  }

  #forget(queue: Queue<Item>, { cost }: QueuedItem<Item>): void {
    queue.waiting -= cost;
    this.#waiting -= cost;
    // With no item waiting, no owner owes anything.
    if (this.#waiting === 0) this.#queues.clear();
  }
}
