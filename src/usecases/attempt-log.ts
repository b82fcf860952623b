/**
 * Records what came of sends, many in one statement: who finishes while one is under way goes with the next. Then it
 * notes what the same answers tell of the channel.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptOutcome, ChannelSign } from '../domain/delivery.ts';
import { type AttemptRecord, holdForEvents, recordAttempts } from '../storage/attempt-records.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import { type Database, inTransaction } from '../storage/database.ts';
import { takeEarly } from '../storage/early-events.ts';
import { Gathering } from '../storage/gathering.ts';
import { eachApart } from '../storage/row-fault.ts';
import { type HealthChange, noteAnswers } from '../storage/sender-health.ts';
import { hearWishes } from '../storage/suppressions.ts';
import { settleStatuses } from './channel-events.ts';

interface Attempt {
  readonly applicationId: number;
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  /** What the answer tells of the channel. */
  readonly sign: ChannelSign;
}

interface Job {
  readonly sign: ChannelSign;
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
  readonly #onHealth: (change: HealthChange, reason: string | null) => void;
  readonly #gathering: Gathering<Job>;

  /**
   * A record that cannot be written, or not within `keepTryingMs`, is dropped: its message becomes uncertain by
   * itself. `onDrop` hears of it, and `onHealth` of a channel that broke or works again.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onDrop: (applicationIds: readonly number[], error: unknown) => void,
    onHealth: (change: HealthChange, reason: string | null) => void,
  ) {
    this.#database = database;
    this.#keepTryingMs = keepTryingMs;
    this.#onDrop = onDrop;
    this.#onHealth = onHealth;
    this.#gathering = new Gathering<Job>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (jobs) => this.#run(jobs),
    });
  }

  /** Resolves when the attempt is recorded, or dropped. */
  record({ applicationId, attempt, outcome, sign }: Attempt): Promise<void> {
    const record = { applicationId, attempt, ...outcome };
    return new Promise((done) => {
      this.#gathering.add({ record, sign, giveUpAt: performance.now() + this.#keepTryingMs, done });
    });
  }

  async #run(jobs: Job[]): Promise<void> {
    let left = jobs;
    for (;;) {
      try {
        await eachApart(
          left,
          (some) =>
            recordAll(
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
    await this.#note(jobs);
    for (const job of jobs) job.done();
  }

  /** What cannot be noted is lost: the next answers tell the same. */
  async #note(jobs: readonly Job[]): Promise<void> {
    const lastAlive = jobs.findLastIndex(({ sign }) => sign === 'alive');
    const failing = jobs.slice(lastAlive + 1).filter(({ sign }) => sign === 'failing');
    const reason = failing.at(-1)?.record.reason ?? null;
    const alive = jobs.filter(({ sign }) => sign === 'alive').length;
    const change = await noteAnswers(this.#database, { alive, failing: failing.length, reason }).catch(
      () => null,
    );
    if (change !== null) this.#onHealth(change, reason);
  }
}

/** Events that came before their record are applied with it. */
async function recordAll(database: Database, records: readonly AttemptRecord[]): Promise<void> {
  const early = await againAfterConflict(() => recordAttempts(database, records));
  if (early.size > 0) {
    const left = records.filter(({ applicationId }) => early.has(applicationId));
    await againAfterConflict(() => recordWithEvents(database, left));
  }
}

function recordWithEvents(database: Database, records: readonly AttemptRecord[]): Promise<void> {
  return inTransaction(database, async (session) => {
    const events = await takeEarly(session, records);
    await holdForEvents(session, records);
    await recordAttempts(session, records);
    const { optedOut } = await settleStatuses(session, events);
    await hearWishes(session, optedOut);
  });
}

function idsOf(jobs: readonly Job[]): number[] {
  return jobs.map(({ record }) => record.applicationId);
}
