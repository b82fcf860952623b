/**
 * Backtests that the console asks for (D51; docs/policy.md, "The console"). They run in the background of the process,
 * one after the other, because one takes longer than a request waits. A run that the process does not end is stored
 * nowhere.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { errorFields } from '../../../ground/base/describe-error.ts';
import type { LogFailure } from '../../../program/operations/failure-log.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { tryVersion } from './backtest.ts';
import { TrialRefusal } from './refusal.ts';

/** A run that waits, goes on or has failed. */
export interface Run {
  readonly version: string;
  readonly since: string | null;
  /** The applications that it has tried so far. */
  readonly applications: number;
  readonly hasFailed: boolean;
}

/** Runs of a process that go on or wait. */
export const MOST_RUNS = 4;
/** A failure is shown so long. */
const SHOWN_MS = 60_000;

interface Entry {
  readonly version: string;
  readonly since: string | null;
  applications: number;
  /** When it failed, by the monotonic clock; null: it has not. */
  failedAt: number | null;
}

/** The runs of a process. */
export class BacktestRuns {
  readonly #clock: Clock;
  readonly #logFailure: LogFailure;
  #entries: readonly Entry[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, logFailure: LogFailure) {
    this.#clock = clock;
    this.#logFailure = logFailure;
  }

  /**
   * Tries a version on what was registered on or after a day. Where the same runs already, it is that run. Throws a
   * `TrialRefusal` where too many run or wait.
   */
  start(context: OperatorContext, version: string, since: string | null): void {
    const going = this.#entries.filter(({ failedAt }) => failedAt === null);
    if (going.some((one) => one.version === version && one.since === since)) return;
    if (going.length >= MOST_RUNS)
      throw new TrialRefusal('too_many_backtests', `${MOST_RUNS} backtests run or wait already`);
    const entry: Entry = { version, since, applications: 0, failedAt: null };
    this.#entries = [...going, entry];
    this.#last = this.#last.then(() => this.#run(context, entry));
  }

  async #run(context: OperatorContext, entry: Entry): Promise<void> {
    try {
      await tryVersion(context, entry.version, entry.since, (applications) => {
        entry.applications = applications;
      });
      this.#entries = this.#entries.filter((one) => one !== entry);
    } catch (error) {
      entry.failedAt = this.#clock.monotonicMs();
      this.#logFailure('a backtest failed', { error: errorFields(error) });
    }
  }

  /** The runs that go on or wait, and those that failed a moment ago. */
  shown(): Run[] {
    const now = this.#clock.monotonicMs();
    return this.#entries
      .filter(({ failedAt }) => failedAt === null || now - failedAt < SHOWN_MS)
      .map(({ failedAt, ...run }) => ({ ...run, hasFailed: failedAt !== null }));
  }

  /** Ends when no run goes on or waits. */
  settled(): Promise<void> {
    return this.#last;
  }
}
