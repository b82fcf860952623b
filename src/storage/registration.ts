/** Registers batches through `register_batches`, several in one statement where they wait (D15-D18, D36). */
import { setTimeout as sleep } from 'node:timers/promises';
import { InDoubtError, UnavailableError } from '../domain/registration-failure.ts';
import { CONNECT_TIMEOUT_MS, type Database, errorCode, QUERY_TIMEOUT_MS } from './database.ts';
import { Gathering } from './gathering.ts';
import type { PreparedBatch } from './prepared-batch.ts';
import { callRegister, readReceipt, type Verdict } from './registration-sql.ts';

/** Statements under way at once; more of them gain nothing on two cores and cost latency (bench). */
const LANES = 2;
/** Most batches and applications in one statement. */
const MAX_BATCHES = 64;
const MAX_APPLICATIONS = 400;
/** Most batches that wait; one more is refused as overload. */
const MAX_WAITING = 2_000;
/** A batch is not sent any more with less time than this to its deadline, in milliseconds. */
const LEAST_TIME_MS = CONNECT_TIMEOUT_MS + QUERY_TIMEOUT_MS;
const RESOLVE_PAUSE_MS = 100;
/** Tries after a deadlock or serialisation failure. */
const MAX_TRIES = 4;

interface Job {
  readonly batch: PreparedBatch;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  alone: boolean;
  tries: number;
  resolve(verdict: Verdict): void;
  reject(error: Error): void;
}

export class Registrar {
  readonly #database: Database;
  readonly #policyId: number;
  readonly #gathering: Gathering<Job>;

  /** `policyId` is the stored policy that the batches are scored by. */
  constructor(database: Database, policyId: number) {
    this.#database = database;
    this.#policyId = policyId;
    this.#gathering = new Gathering<Job>({
      lanes: LANES,
      maxWaiting: MAX_WAITING,
      take: takeTogether,
      run: (jobs) => this.#run(jobs),
    });
  }

  /**
   * Registers a batch in one transaction and tells what became of each candidate, before `deadline` on the
   * clock of `performance.now()`. Throws `UnavailableError` where nothing was stored and `InDoubtError` where
   * that could not be found out.
   */
  register(batch: PreparedBatch, deadline: number): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const job = { batch, deadline, alone: false, tries: 0, resolve, reject };
      if (!this.#gathering.add(job)) reject(new UnavailableError('too many batches are waiting'));
    });
  }

  async #run(jobs: Job[]): Promise<void> {
    const live = jobs.filter((job) => {
      const late = performance.now() + LEAST_TIME_MS > job.deadline;
      if (late) job.reject(new UnavailableError('the batch waited too long'));
      return !late;
    });
    if (live.length === 0) return;
    const sent = { value: false };
    try {
      const verdicts = await callRegister(
        this.#database,
        this.#policyId,
        live.map((job) => job.batch),
        sent,
      );
      for (const [index, job] of live.entries()) this.#settle(job, verdicts[index] as Verdict);
    } catch (error) {
      await this.#recover(live, error as Error, sent.value);
    }
  }

  #settle(job: Job, verdict: Verdict): void {
    if (verdict.kind === 'alone') this.#again([job]);
    else job.resolve(verdict);
  }

  async #recover(jobs: Job[], error: Error, sent: boolean): Promise<void> {
    const reject = (reason: Error) => {
      for (const job of jobs) job.reject(reason);
    };
    if (!sent) return reject(new UnavailableError('no database connection', { cause: error }));
    // An ERROR of the server ends its transaction; anything else may have come after the commit.
    const answered = 'severity' in error && error.severity === 'ERROR';
    if (!answered) {
      // Not awaited: the lane is free for others while the outcome is found out.
      for (const job of jobs) void this.#resolveInDoubt(job);
      return;
    }
    const [job] = jobs;
    switch (errorCode(error)) {
      case '40001':
      case '40P01': {
        const tired = jobs.some((candidate) => ++candidate.tries >= MAX_TRIES);
        return tired ? reject(new UnavailableError('contended', { cause: error })) : this.#again(jobs);
      }
      case 'VN001':
        return this.#again(jobs);
      case '23505':
        if (jobs.length > 1 || job === undefined) return this.#again(jobs);
        return this.#answerFromReceipt(job, error);
      case '57014':
      case '55P03':
        return reject(new UnavailableError('the statement took too long', { cause: error }));
      default:
        return reject(error);
    }
  }

  #again(jobs: Job[]): void {
    for (const job of jobs) job.alone = true;
    this.#gathering.putBack(jobs);
  }

  /** Another session registered the same batch or Idempotency-Key first, and has committed. */
  async #answerFromReceipt(job: Job, cause: Error): Promise<void> {
    try {
      const receipt = await readReceipt(this.#database, job.batch);
      if (receipt !== null) return job.resolve(receipt);
      job.reject(cause);
    } catch (error) {
      // Nothing of this try is stored, but an earlier one may be.
      job.reject(new InDoubtError('the receipt could not be read', { cause: error }));
    }
  }

  /**
   * The connection died under the statement. Registering the same batch again waits for the first try if that
   * still runs. If that has committed, its receipt tells, whatever the second try made of it: to that one, the
   * first one's applications are duplicates, and their quota is used.
   */
  async #resolveInDoubt(job: Job): Promise<void> {
    while (performance.now() < job.deadline) {
      await sleep(RESOLVE_PAUSE_MS);
      try {
        return job.resolve(await withDeadline(this.#tryAgain(job.batch), job.deadline));
      } catch (error) {
        if (errorCode(error) === '23505') return this.#answerFromReceipt(job, error as Error);
      }
    }
    job.reject(new InDoubtError('the outcome could not be found out in time'));
  }

  async #tryAgain(batch: PreparedBatch): Promise<Verdict> {
    const [verdict] = await callRegister(this.#database, this.#policyId, [batch], { value: false });
    return (await readReceipt(this.#database, batch)) ?? (verdict as Verdict);
  }
}

async function withDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  const abort = new AbortController();
  const timeout = sleep(Math.max(deadline - performance.now(), 0), undefined, { signal: abort.signal }).then(
    () => Promise.reject(new InDoubtError('out of time')),
  );
  timeout.catch(() => {});
  try {
    return await Promise.race([work, timeout]);
  } finally {
    abort.abort();
  }
}

/** Takes the head of the queue and what can share its statement: no phone and no Idempotency-Key twice. */
function takeTogether(waiting: Job[]): Job[] {
  const head = waiting.shift() as Job;
  if (head.alone) return [head];
  const taken = [head];
  const claims = new Set(head.batch.claims);
  let applications = head.batch.candidates.length;
  for (let index = 0; index < waiting.length && taken.length < MAX_BATCHES; ) {
    const job = waiting[index] as Job;
    if (applications + job.batch.candidates.length > MAX_APPLICATIONS) break;
    if (job.alone || job.batch.claims.some((claim) => claims.has(claim))) {
      index += 1;
      continue;
    }
    waiting.splice(index, 1);
    taken.push(job);
    for (const claim of job.batch.claims) claims.add(claim);
    applications += job.batch.candidates.length;
  }
  return taken;
}
