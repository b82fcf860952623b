/**
 * Gathers work that waits at the same time into one run, and writes arrays in PostgreSQL's binary form for its
 * statement. Pure but for its queue in memory. ARCHITECTURE, "A request's way", has the rule.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** A function that runs work in the asynchronous context in which the function was made. */
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
  /**
   * The asynchronous context that each waiting item came from. A lane that is never idle would keep the context of its
   * first item for ever.
   */
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

/**
 * Arrays as statement parameters, in PostgreSQL's binary form for the simple types: the server reads that form in a
 * third of the time of an array literal. `pg` sends a Buffer as binary.
 */
/** OIDs of PostgreSQL's pg_type; they never change. */
const OID = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, uuid: 2950 } as const;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const UUID_BYTES = 16;
const BIGINT_BYTES = 8;

/** An array literal from elements that need no quotes: numbers, names of closed sets, NULL. */
export function arrayLiteral<S>(from: readonly S[], pick: (source: S) => string | number | null): string {
  let text = '';
  for (const source of from) text += text === '' ? `${pick(source) ?? 'NULL'}` : `,${pick(source) ?? 'NULL'}`;
  return `{${text}}`;
}

export function byteaArray<S>(from: readonly S[], pick: (source: S) => Buffer | null): Buffer {
  let size = 0;
  for (const source of from) size += pick(source)?.length ?? 0;
  return array(OID.bytea, from, size, pick, (out, offset, value) => offset + value.copy(out, offset));
}

export function textArray<S>(from: readonly S[], pick: (source: S) => string): Buffer {
  let size = 0;
  // UTF-8 takes at most three bytes a UTF-16 unit.
  for (const source of from) size += 3 * pick(source).length;
  return array(OID.text, from, size, pick, writeText);
}

/** Elements of 32 hex digits, without hyphens. */
export function uuidArray<S>(from: readonly S[], pick: (source: S) => string | null): Buffer {
  return array(OID.uuid, from, from.length * UUID_BYTES, pick, (out, offset, value) => {
    out.write(value, offset, 'hex');
    return offset + UUID_BYTES;
  });
}

/** Elements of 16 hex digits. */
export function bigintArray<S>(from: readonly S[], pick: (source: S) => string | null): Buffer {
  return array(OID.int8, from, from.length * BIGINT_BYTES, pick, (out, offset, value) => {
    out.write(value, offset, 'hex');
    return offset + BIGINT_BYTES;
  });
}

export function smallintArray<S>(from: readonly S[], pick: (source: S) => number): Buffer {
  return array(OID.int2, from, from.length * 2, pick, (out, offset, value) =>
    out.writeInt16BE(value, offset),
  );
}

export function integerArray<S>(from: readonly S[], pick: (source: S) => number): Buffer {
  return array(OID.int4, from, from.length * 4, pick, (out, offset, value) =>
    out.writeInt32BE(value, offset),
  );
}

export function booleanArray<S>(from: readonly S[], pick: (source: S) => boolean): Buffer {
  return array(OID.bool, from, from.length, pick, (out, offset, value) =>
    out.writeUInt8(value ? 1 : 0, offset),
  );
}

/** `size` is the most bytes that the values take; `write` writes a value and returns the offset after it. */
function array<S, V>(
  oid: number,
  from: readonly S[],
  size: number,
  pick: (source: S) => V | null,
  write: (out: Buffer, offset: number, value: V) => number,
): Buffer {
  const out = Buffer.allocUnsafe(HEADER_BYTES + from.length * LENGTH_BYTES + size);
  out.writeInt32BE(from.length === 0 ? 0 : 1, 0);
  out.writeInt32BE(0, 4);
  out.writeInt32BE(oid, 8);
  if (from.length === 0) return out.subarray(0, 12);
  out.writeInt32BE(from.length, 12);
  out.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  for (const source of from) {
    const value = pick(source);
    if (value === null) {
      out.writeInt32BE(1, 4);
      offset = out.writeInt32BE(-1, offset);
      continue;
    }
    const end = write(out, offset + LENGTH_BYTES, value);
    out.writeInt32BE(end - offset - LENGTH_BYTES, offset);
    offset = end;
  }
  return out.subarray(0, offset);
}

/**
 * Writes a text as UTF-8 and returns the offset after it. The runtime's own function costs a call out of JavaScript,
 * which is more than a short text itself. The buffer must have room for three bytes a UTF-16 unit.
 */
export function writeText(out: Buffer, offset: number, value: string): number {
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    if (unit > 0x7f) return offset + out.write(value, offset);
    out[offset + index] = unit;
  }
  return offset + value.length;
}
