/** Chooses the waiting batches that go into the next statement (D36, D37). */
import type { PreparedBatch } from './prepared-batch.ts';
import type { Verdict } from './registration-sql.ts';

/** Most batches in one statement. */
const MAX_BATCHES = 64;

/** A batch that waits for its statement. */
export interface QueuedBatch {
  readonly batch: PreparedBatch;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** Its place in the queue, on a clock that counts taken applications. */
  readonly due: number;
  alone: boolean;
  tries: number;
  resolve(verdict: Verdict): void;
  reject(error: Error): void;
}

/** The order of keys, on a clock that counts taken applications. */
export class KeyOrder {
  /** By key: when its next batch is due if the key has more waiting. */
  readonly #dueByKey = new Map<number, number>();
  /** When the batch that was taken last was due. */
  #taken = 0;

  /** A key's batches are as far apart as they are large, so that a batch of another key goes between them (D37). */
  dueOf({ keyId, candidates }: PreparedBatch): number {
    const due = Math.max(this.#dueByKey.get(keyId) ?? 0, this.#taken);
    this.#dueByKey.set(keyId, due + candidates.length);
    return due;
  }

  /** Removes the next batches from the queue: at most `most` applications, or a single batch. */
  take(waiting: QueuedBatch[], most: number): QueuedBatch[] {
    const batches = takeTogether(waiting, most);
    if (waiting.length > 0) this.#taken = Math.max(this.#taken, ...batches.map(({ due }) => due));
    else {
      this.#taken = 0;
      this.#dueByKey.clear();
    }
    return batches;
  }
}

/** Takes the head of the queue and the batches that can share its statement: no phone and no Idempotency-Key twice. */
function takeTogether(waiting: QueuedBatch[], most: number): QueuedBatch[] {
  const head = waiting.shift()!;
  if (head.alone) return [head];
  const taken = [head];
  const conflictKeys = new Set(head.batch.conflictKeys);
  let applications = head.batch.candidates.length;
  for (let index = 0; index < waiting.length && taken.length < MAX_BATCHES; ) {
    const queued = waiting[index]!;
    if (applications + queued.batch.candidates.length > most) break;
    if (queued.alone || queued.batch.conflictKeys.some((key) => conflictKeys.has(key))) {
      index += 1;
      continue;
    }
    waiting.splice(index, 1);
    taken.push(queued);
    for (const key of queued.batch.conflictKeys) conflictKeys.add(key);
    applications += queued.batch.candidates.length;
  }
  return taken;
}
