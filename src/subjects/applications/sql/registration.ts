/**
 * Registers batches by `register_batches`, several in one statement if they wait, in an order that lets API keys take
 * turns (D15-D18, D36, D37; ARCHITECTURE, "A request's way"). `registration-sql.ts` has the statements.
 */
import type { KeyId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { InDoubtError, UnavailableError } from '../../../ground/base/registration-failure.ts';
import {
  CONFLICT_TRIES,
  CONNECT_TIMEOUT_MS,
  type Database,
  isConflict,
  isLate,
  isMachineLost,
  isWithoutPartition,
  QUERY_TIMEOUT_MS,
} from '../../../ground/postgres/database.ts';
import { Gathering } from '../../../ground/postgres/gathering.ts';
import { makePartitions } from './partitions.ts';
import type { PreparedBatch } from './prepared-batch.ts';
import {
  callRegister,
  type Progress,
  type RegistrationTerms,
  resendRegister,
  type Verdict,
} from './registration-sql.ts';

// The first part: chooses the waiting batches of the next statement (D36, D37).

/** Most batches in one statement. */
const MAX_BATCHES = 64;

/** A batch that waits for its statement. */
interface QueuedBatch {
  readonly batch: PreparedBatch;
  /** On `Clock.monotonicMs`. */
  readonly deadline: number;
  /** Its place in the queue, by `KeyOrder`. The queue is sorted by it. */
  readonly due: number;
  /** The batch has a statement of its own. */
  alone: boolean;
  /** How often its statement was in conflict with others and had to be repeated. */
  tries: number;
  resolve(verdict: Verdict): void;
  reject(error: Error): void;
}

/**
 * The order of batches, so that API keys take turns (D37). A batch is due as many units after the previous batch of its
 * API key as the previous batch has applications. So a batch of another API key goes between two large ones.
 *
 * This queue follows that of `gate/fair-queue`, and neither can replace the other. The first one lets partners take
 * turns before their bodies are parsed, and has no bound. What it admitted while one partner was alone waits here: the
 * batches of the next two statements (`Registrar.atWork`). The batch of a second partner that is admitted then would
 * wait for both of those statements; in this order it goes with the next one.
 */
class KeyOrder {
  /** By API key: the earliest `due` of its next batch. */
  readonly #dueByKey = new Map<number, number>();
  /** The latest `due` of all batches that were taken: no new batch is due before. */
  #taken = 0;

  /** The place of a new batch in the queue. */
  dueOf({ keyId, candidates }: PreparedBatch): number {
    const due = Math.max(this.#dueByKey.get(keyId) ?? 0, this.#taken);
    this.#dueByKey.set(keyId, due + candidates.length);
    return due;
  }

  /**
   * Removes the batches of the next statement from the queue: at most `maxApplications` in all, or one batch of any
   * size.
   */
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

/**
 * Takes the first batch of the queue and those that can share its statement: scored by the same policy, and no phone
 * and no Idempotency-Key twice.
 */
function takeTogether(waiting: QueuedBatch[], maxApplications: number): QueuedBatch[] {
  const head = waiting.shift()!;
  if (head.alone) return [head];
  const taken = [head];
  const conflictKeys = new Set(head.batch.conflictKeys);
  let applications = head.batch.candidates.length;
  for (let index = 0; index < waiting.length && taken.length < MAX_BATCHES; ) {
    const queued = waiting[index]!;
    if (applications + queued.batch.candidates.length > maxApplications) break;
    if (
      queued.alone ||
      queued.batch.policyId !== head.batch.policyId ||
      queued.batch.conflictKeys.some((key) => conflictKeys.has(key))
    ) {
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

/** Statements under way at once; more gain nothing on two cores and cost latency (bench). */
const LANES = 2;
/** Most positions in one statement. */
const MAX_PER_STATEMENT = 400;
/** Most positions in one statement on a cluster, where the statement itself costs ten times as much (bench). */
const MAX_PER_CLUSTER_STATEMENT = 1_600;
/** Most batches that wait; another one is refused as overload. */
const MAX_WAITING = 2_000;
/** A batch with less time than this to its deadline is not sent any more, in milliseconds. */
const LEAST_TIME_MS = CONNECT_TIMEOUT_MS + QUERY_TIMEOUT_MS;
const RESOLVE_PAUSE_MS = 100;

/** Runs `call`, the statement that registers these batches. */
export type AroundStatement = <T>(batches: readonly PreparedBatch[], call: () => Promise<T>) => Promise<T>;

interface RegistrarOptions {
  readonly clock: Clock;
  /** The store is on several machines. */
  readonly isSpread?: boolean;
  /** Runs each statement, so that tracing and the watcher can follow it. */
  readonly around?: AroundStatement;
}

export class Registrar {
  /**
   * As many applications under way keep both lanes busy with full statements: while two statements run, the batches
   * of the next two are prepared. More gain nothing and cost the others latency (bench).
   */
  readonly atWork: number;
  readonly #most: number;
  readonly #isSpread: boolean;
  readonly #around: AroundStatement;
  readonly #database: Database;
  readonly #terms: RegistrationTerms;
  readonly #clock: Clock;
  readonly #gathering: Gathering<QueuedBatch>;
  readonly #order = new KeyOrder();
  /** The API keys whose latest batch registered nothing. */
  readonly #refusedKeys = new Set<KeyId>();

  constructor(
    database: Database,
    terms: RegistrationTerms,
    { clock, isSpread = false, around = (_batches, call) => call() }: RegistrarOptions,
  ) {
    this.#clock = clock;
    this.#around = around;
    this.#isSpread = isSpread;
    this.#most = isSpread ? MAX_PER_CLUSTER_STATEMENT : MAX_PER_STATEMENT;
    this.atWork = 2 * LANES * this.#most;
    this.#database = database;
    this.#terms = terms;
    this.#gathering = new Gathering<QueuedBatch>({
      lanes: LANES,
      maxWaiting: MAX_WAITING,
      take: (waiting) => this.#order.take(waiting, this.#most),
      run: (batches) => this.#run(batches),
    });
  }

  /**
   * Registers a batch in one transaction and returns the verdict, before `deadline` on
   * `Clock.monotonicMs`. Throws `UnavailableError` if nothing was stored, and `InDoubtError` if that could not be
   * found out.
   */
  register(batch: PreparedBatch, deadline: number): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const due = this.#order.dueOf(batch);
      const queued = { batch, deadline, due, alone: false, tries: 0, resolve, reject };
      const goesBefore = (other: QueuedBatch) => !other.alone && other.due > due;
      if (!this.#gathering.add(queued, goesBefore)) {
        reject(new UnavailableError('too many batches are waiting'));
      }
    });
  }

  async #run(batches: QueuedBatch[]): Promise<void> {
    const live = batches.filter((queued) => {
      const late = this.#clock.monotonicMs() + LEAST_TIME_MS > queued.deadline;
      if (late) queued.reject(new UnavailableError('the batch waited too long'));
      return !late;
    });
    if (live.length === 0) return;
    const some = live.map((queued) => queued.batch);
    const progress = { isSent: false, isUndone: false };
    const isRefused = (keyId: KeyId) => this.#refusedKeys.has(keyId);
    try {
      const verdicts = await this.#around(some, () =>
        callRegister(this.#database, this.#terms, some, isRefused, progress),
      );
      for (const [index, queued] of live.entries()) this.#settle(queued, verdicts[index]!);
    } catch (error) {
      await this.#recover(live, error as Error, progress);
    }
  }

  #settle(queued: QueuedBatch, verdict: Verdict): void {
    if (verdict.kind === 'alone') {
      this.#again([queued]);
      return;
    }
    if (verdict.kind === 'done') {
      const { keyId, candidates } = queued.batch;
      if (verdict.batch.hasRegistered(candidates)) this.#refusedKeys.delete(keyId);
      else this.#refusedKeys.add(keyId);
    }
    queued.resolve(verdict);
  }

  async #recover(batches: QueuedBatch[], error: Error, progress: Progress): Promise<void> {
    const reject = (reason: Error) => {
      for (const queued of batches) queued.reject(reason);
    };
    if (!progress.isSent) return reject(new UnavailableError('no database connection', { cause: error }));
    if (this.#hasLostMachine(error) && isBeforeCommit(error)) {
      return reject(new UnavailableError('a machine of the Citus cluster does not answer', { cause: error }));
    }
    if (!progress.isUndone || this.#hasLostMachine(error)) {
      // Nobody waits for this, so that the lane is free for other batches meanwhile.
      for (const queued of batches) void this.#resolveInDoubt(queued);
      return;
    }
    // If the batch's Idempotency-Key was registered meanwhile, the next try finds its receipt.
    if (isConflict(error)) {
      const tired = batches.some((candidate) => ++candidate.tries >= CONFLICT_TRIES);
      return tired ? reject(new UnavailableError('contended', { cause: error })) : this.#again(batches);
    }
    if (isWithoutPartition(error)) return this.#againWithPartition(batches, error);
    return reject(
      isLate(error) ? new UnavailableError('the statement took too long', { cause: error }) : error,
    );
  }

  /**
   * Whether a machine of a cluster was lost. Then some machines may have committed what the session's own machine
   * undid.
   */
  #hasLostMachine(error: Error): boolean {
    return this.#isSpread && isMachineLost(error) && !isConflict(error);
  }

  /** The upkeep makes partitions ahead of time; if it could not, they are made now. */
  async #againWithPartition(batches: QueuedBatch[], error: Error): Promise<void> {
    try {
      if (batches.some((queued) => ++queued.tries >= CONFLICT_TRIES)) throw error;
      await makePartitions(this.#database);
      this.#again(batches);
    } catch (failure) {
      for (const queued of batches) queued.reject(failure as Error);
    }
  }

  #again(batches: QueuedBatch[]): void {
    for (const queued of batches) queued.alone = true;
    this.#gathering.putBack(batches);
  }

  /**
   * The connection died during the statement, or its commit is not certain. Sends the batch again until a commit
   * settles what happened: the first try's registration, this one's, or neither.
   */
  async #resolveInDoubt(queued: QueuedBatch): Promise<void> {
    while (this.#clock.monotonicMs() < queued.deadline) {
      await this.#clock.sleep(RESOLVE_PAUSE_MS);
      try {
        const verdict = resendRegister(this.#database, this.#terms, queued.batch);
        return queued.resolve(await withDeadline(verdict, this.#clock, queued.deadline));
      } catch {
        // This try failed too; the first one is still in doubt.
      }
    }
    queued.reject(new InDoubtError('the outcome could not be found out in time'));
  }
}

/**
 * True if the function itself raised the error. Then no machine had begun to prepare the commit, so nothing is stored.
 * An error of the commit has no such context.
 */
function isBeforeCommit(error: Error): boolean {
  return 'where' in error && /\bregister_batches\(/.test(String(error.where));
}

async function withDeadline<T>(work: Promise<T>, clock: Clock, deadline: number): Promise<T> {
  const abort = new AbortController();
  const leftMs = Math.max(deadline - clock.monotonicMs(), 0);
  const timeout = clock.sleep(leftMs, { signal: abort.signal }).then(() => {
    throw new InDoubtError('out of time');
  });
  timeout.catch(() => {});
  try {
    return await Promise.race([work, timeout]);
  } finally {
    abort.abort();
  }
}
