/** Chooses the waiting batches that go into the next statement (D36, D37). */
import type { PreparedBatch } from './prepared-batch.ts';
import type { Verdict } from './registration-sql.ts';

/** Most batches in one statement. */
const MAX_BATCHES = 64;

/** A batch that waits for its statement. */
export interface QueuedBatch {
  readonly batch: PreparedBatch;
  /** On `Clock.monotonicMs`. */
  readonly deadline: number;
  /** Where it stands in the queue, by `KeyOrder`. The queue is sorted by it. */
  readonly due: number;
  /** The batch goes in a statement of its own. */
  alone: boolean;
  /** How often its statement met others and has to be repeated. */
  tries: number;
  resolve(verdict: Verdict): void;
  reject(error: Error): void;
}

/**
 * The order of batches, so that API keys take turns (D37). A batch is due as many units after the previous batch of its
 * API key as the previous batch has applications. So a batch of another API key goes between two large ones.
 *
 * This queue stands behind that of `gate/fair-queue`, and neither replaces the other. The first one lets partners take
 * turns before their bodies are parsed, and has no bound. What it admitted while one partner was alone waits here: the
 * batches of the next two statements (`Registrar.atWork`). The batch of a second partner that is admitted then would
 * wait for both of those statements; in this order it goes with the next one.
 */
export class KeyOrder {
  /** By API key: the earliest `due` of its next batch. */
  readonly #dueByKey = new Map<number, number>();
  /** The latest `due` of all batches that were taken: no new batch is due before. */
  #taken = 0;

  /** Where a new batch belongs in the queue. */
  dueOf({ keyId, candidates }: PreparedBatch): number {
    const due = Math.max(this.#dueByKey.get(keyId) ?? 0, this.#taken);
    this.#dueByKey.set(keyId, due + candidates.length);
    return due;
  }

  /** Removes the batches of the next statement from the queue: `maxApplications` in all, or one batch of any size. */
  take(waiting: QueuedBatch[], maxApplications: number): QueuedBatch[] {
    const batches = takeTogether(waiting, maxApplications);
    if (waiting.length > 0) this.#taken = Math.max(this.#taken, ...batches.map(({ due }) => due));
    else {
      this.#taken = 0;
      this.#dueByKey.clear();
    }
    return batches;
  }
}

/** Takes the head of the queue and the batches that can share its statement: no phone and no Idempotency-Key twice. */
function takeTogether(waiting: QueuedBatch[], maxApplications: number): QueuedBatch[] {
  const head = waiting.shift()!;
  if (head.alone) return [head];
  const taken = [head];
  const conflictKeys = new Set(head.batch.conflictKeys);
  let applications = head.batch.candidates.length;
  for (let index = 0; index < waiting.length && taken.length < MAX_BATCHES; ) {
    const queued = waiting[index]!;
    if (applications + queued.batch.candidates.length > maxApplications) break;
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
