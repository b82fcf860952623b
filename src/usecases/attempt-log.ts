/** Records what came of sends, many in one statement: who finishes while one is under way goes with the next. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptOutcome } from '../domain/delivery.ts';
import type { Database } from '../storage/database.ts';
import { type AttemptRecord, recordAttempts } from '../storage/delivery.ts';
import { Gathering } from '../storage/gathering.ts';
import { eachApart } from '../storage/row-fault.ts';

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
  readonly #onDrop: (applicationIds: readonly number[], error: unknown) => void;
  readonly #gathering: Gathering<Job>;

  /**
   * A record that cannot be written, or not within `keepTryingMs`, is dropped: its message becomes uncertain by
   * itself. `onDrop` hears of it.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onDrop: (applicationIds: readonly number[], error: unknown) => void,
  ) {
    this.#database = database;
    this.#keepTryingMs = keepTryingMs;
    this.#onDrop = onDrop;
    this.#gathering = new Gathering<Job>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (jobs) => this.#run(jobs),
    });
  }

  /** Resolves when the attempt is recorded, or dropped. */
  record({ applicationId, attempt, outcome }: Attempt): Promise<void> {
    const record = { applicationId, attempt, ...outcome };
    return new Promise((done) => {
      this.#gathering.add({ record, giveUpAt: performance.now() + this.#keepTryingMs, done });
    });
  }

  async #run(jobs: Job[]): Promise<void> {
    let left = jobs;
    for (;;) {
      try {
        await eachApart(
          left,
          (some) =>
            recordAttempts(
              this.#database,
              some.map(({ record }) => record),
            ),
          (job, error) => this.#onDrop(idsOf([job]), error),
        );
        break;
      } catch (error) {
        await sleep(RETRY_PAUSE_MS);
        const late = left.filter(({ giveUpAt }) => performance.now() >= giveUpAt);
        if (late.length > 0) this.#onDrop(idsOf(late), error);
        left = left.filter((job) => !late.includes(job));
        if (left.length === 0) break;
      }
    }
    for (const job of jobs) job.done();
  }
}

function idsOf(jobs: readonly Job[]): number[] {
  return jobs.map(({ record }) => record.applicationId);
}
