/** Records what came of sends, many in one statement: who finishes while one is under way goes with the next. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptOutcome } from '../domain/delivery.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptRecord, recordAttempts } from '../storage/delivery.ts';
import { Gathering } from '../storage/gathering.ts';

export interface Attempt {
  readonly applicationId: number;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
}

interface Job {
  readonly record: AttemptRecord;
  readonly giveUpAt: number;
  done(): void;
}

const MAX_TOGETHER = 500;
const RETRY_PAUSE_MS = 500;

export class AttemptLog {
  readonly #database: Database;
  readonly #keepTryingMs: number;
  readonly #gathering: Gathering<Job>;

  /** A record that cannot be written within `keepTryingMs` is dropped: its message becomes uncertain by itself. */
  constructor(database: Database, keepTryingMs: number) {
    this.#database = database;
    this.#keepTryingMs = keepTryingMs;
    this.#gathering = new Gathering<Job>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (jobs) => this.#run(jobs),
    });
  }

  /** Resolves when the attempt is recorded, or dropped. */
  record({ applicationId, attempt, outcome }: Attempt): Promise<void> {
    const { afterMs, ...rest } = outcome;
    const record = { applicationId, attempt, ...rest, dueAt: new Date(Date.now() + afterMs) };
    return new Promise((done) => {
      this.#gathering.add({ record, giveUpAt: performance.now() + this.#keepTryingMs, done });
    });
  }

  async #run(jobs: Job[]): Promise<void> {
    let left = jobs;
    for (;;) {
      try {
        await recordAttempts(
          this.#database,
          left.map(({ record }) => record),
        );
        break;
      } catch {
        await sleep(RETRY_PAUSE_MS);
        left = left.filter(({ giveUpAt }) => performance.now() < giveUpAt);
        if (left.length === 0) break;
      }
    }
    for (const job of jobs) job.done();
  }
}
