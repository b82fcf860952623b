/**
 * Counts the outcomes of each key's applications on PRO, so that an operator sees whose applications are refused, how
 * often and why (docs/refusals.md). A request only adds to numbers in memory; every few seconds they are written to the
 * store. A process that is killed loses its last few seconds of counts; a write in doubt may count twice.
 */

import type { Outcome } from '../../../domain/application/read-application.ts';
import type { KeyId } from '../../../domain/partner/credential.ts';
import type { Clock, Timer } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { addKeyOutcomes, type KeyOutcomes, type OutcomeCounts } from '../sql/key-outcomes.ts';

export type { KeyOutcomes };

const EVERY_MS = 5_000;

const COUNTED = {
  registered: 'registered',
  duplicate: 'duplicate',
  over_quota: 'over_quota',
  invalid: 'invalid',
  not_an_object: 'invalid',
} as const satisfies Record<Outcome['kind'], keyof OutcomeCounts>;

const COUNTS = [
  'registered',
  'duplicate',
  'over_quota',
  'invalid',
  'unauthorized',
  'remembered',
  'forgotten',
] as const satisfies (keyof OutcomeCounts)[];

export class KeyOutcomeCounter {
  readonly #database: Database;
  readonly #timer: Timer;
  readonly #onSweep: (hour: KeyOutcomes) => void;
  readonly #onError: (error: unknown) => void;
  /** By key, so at most one entry for each API key. */
  #counts = new Map<KeyId, OutcomeCounts>();
  #writing: Promise<void> = Promise.resolve();

  /**
   * `onSweep` is called once for each key and hour that looks like a sweep of phones, in one of the processes.
   * `onError` is called when a write fails; its counts go with the next write.
   */
  constructor(
    database: Database,
    {
      clock,
      onSweep,
      onError,
    }: { clock: Clock; onSweep: (hour: KeyOutcomes) => void; onError: (error: unknown) => void },
  ) {
    this.#database = database;
    this.#onSweep = onSweep;
    this.#onError = onError;
    this.#timer = clock.every(EVERY_MS, () => this.write());
  }

  /** Counts the outcomes of a batch that is not a replay. */
  answered(keyId: KeyId, outcomes: readonly Outcome[]): void {
    const counts = this.#of(keyId);
    for (const { kind } of outcomes) counts[COUNTED[kind]] += 1;
  }

  /** Counts a request with a key that is dead or of the other environment. */
  refused(keyId: KeyId): void {
    this.#of(keyId).unauthorized += 1;
  }

  /** Counts a remembered answer of a batch that registered nothing. */
  remembered(keyId: KeyId): void {
    this.#of(keyId).remembered += 1;
  }

  /** Counts such answers that were forgotten early. */
  forgotten(keyId: KeyId, answers: number): void {
    this.#of(keyId).forgotten += answers;
  }

  /** Writes the counts so far. Never rejects. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Stops the timer and writes the last counts. */
  async stop(): Promise<void> {
    this.#timer.cancel();
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
        for (const name of COUNTS) kept[name] += lost[name];
      }
      this.#onError(error);
    }
  }

  #of(keyId: KeyId): OutcomeCounts {
    let counts = this.#counts.get(keyId);
    if (counts === undefined) {
      counts = {
        registered: 0,
        duplicate: 0,
        over_quota: 0,
        invalid: 0,
        unauthorized: 0,
        remembered: 0,
        forgotten: 0,
      };
      this.#counts.set(keyId, counts);
    }
    return counts;
  }
}
