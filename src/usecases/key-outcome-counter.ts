/**
 * Counts what becomes of each key's applications on PRO, so that an operator sees who is refused, how often and why.
 * A request only increments numbers in memory; they go to the store every few seconds. A process that is killed loses
 * those of its last few seconds; a write whose outcome is in doubt may count them twice.
 */
import type { Outcome } from '../domain/application/outcome.ts';
import type { Database } from '../storage/database.ts';
import { addKeyOutcomes, type KeyOutcomes, type OutcomeCounts } from '../storage/key-outcomes.ts';

export type { KeyOutcomes };

const EVERY_MS = 5_000;

const COUNTED = {
  registered: 'registered',
  duplicate: 'duplicate',
  quota: 'overQuota',
  invalid: 'invalid',
  not_an_object: 'invalid',
} as const satisfies Record<Outcome['kind'], keyof OutcomeCounts>;

export class KeyOutcomeCounter {
  readonly #database: Database;
  readonly #timer: NodeJS.Timeout;
  readonly #onSweep: (hour: KeyOutcomes) => void;
  readonly #onError: (error: unknown) => void;
  /** By key; no more than there are keys. */
  #counts = new Map<number, OutcomeCounts>();
  #writing: Promise<void> = Promise.resolve();

  /**
   * `onSweep` hears once of each key's hour that looks like a sweep of phones, in one of the processes; `onError` of
   * writes that failed, whose counts go with the next.
   */
  constructor(
    database: Database,
    { onSweep, onError }: { onSweep: (hour: KeyOutcomes) => void; onError: (error: unknown) => void },
  ) {
    this.#database = database;
    this.#onSweep = onSweep;
    this.#onError = onError;
    this.#timer = setInterval(() => this.write(), EVERY_MS);
  }

  /** What a batch that was not a replay came to. */
  answered(keyId: number, outcomes: readonly Outcome[]): void {
    const counts = this.#of(keyId);
    for (const { kind } of outcomes) counts[COUNTED[kind]] += 1;
  }

  /** A request with a key that is dead or for the other environment. */
  refused(keyId: number): void {
    this.#of(keyId).unauthorized += 1;
  }

  /** Writes what was counted so far. Never rejects. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes for the last time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  async #write(): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    try {
      for (const hour of await addKeyOutcomes(this.#database, counts)) this.#onSweep(hour);
    } catch (error) {
      for (const [keyId, lost] of counts) {
        const kept = this.#of(keyId);
        for (const name of Object.keys(lost) as (keyof OutcomeCounts)[]) kept[name] += lost[name];
      }
      this.#onError(error);
    }
  }

  #of(keyId: number): OutcomeCounts {
    let counts = this.#counts.get(keyId);
    if (counts === undefined) {
      counts = { registered: 0, duplicate: 0, overQuota: 0, invalid: 0, unauthorized: 0 };
      this.#counts.set(keyId, counts);
    }
    return counts;
  }
}
