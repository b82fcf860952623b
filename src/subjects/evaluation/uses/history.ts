/**
 * Counts the applications of the last days for the console's page of policies (D51; docs/policy.md, "The console"): in
 * the background, a page of batches at a time, one count after the other, and kept for a minute. Reads only.
 */
import type { PolicyDocument } from '../../../domain/scorecard/document.ts';
import type { Cube } from '../../../domain/scorecard/what-if.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { digestOf } from '../../policies/sql/digest.ts';
import { CubeCounts, rulerOf } from '../rules/cube.ts';
import { PairCounts, type PairReport } from '../rules/pair.ts';
import { WatchCounts, type WatchReport } from '../rules/watch.ts';
import { type DecidedBatch, dayBefore, decidedBatches, readCards } from '../sql/decided-batches.ts';
import { type DriftFound, drift } from './drift.ts';

/** The days that are counted: the longest window, and the one of the page. */
export const HISTORY_DAYS = 30;

/** A count that is not over yet. */
export interface Counting {
  readonly counting: true;
  /** The applications that are counted so far. */
  readonly counted: number;
}

export interface Counted<T> {
  readonly counting: false;
  readonly since: string;
  readonly result: T;
}

export interface Watched extends WatchReport {
  /** null: no policy is live. */
  readonly drift: DriftFound | null;
}

/** As `policy drift` compares by default. */
const DRIFT_DAYS = 7;

interface Entry {
  readonly done: Promise<void>;
  /** null: it is not over. */
  counted: Counted<unknown> | null;
  failure: unknown;
  applications: number;
  /** When it was over, by the monotonic clock. */
  at: number;
}

const KEPT_MS = 60_000;
/** A request waits so long for a count. */
const WAIT_MS = 1_500;
/** Counts that a process keeps or has to do. */
const MOST = 8;

/** Counts what it sees of each application, which `decided` has read. */
interface Counter<T> {
  add(decided: DecidedFacts, batch: DecidedBatch): void;
  result(): T;
}

/** The counts of a process. */
export class History {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #last: Promise<void> = Promise.resolve();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The cube of the last 30 days, as a version's document measures it. */
  cube(document: PolicyDocument): Promise<Counted<Cube> | Counting> {
    return this.#ask(`cube ${digestOf(document)}`, () => {
      const counts = new CubeCounts(rulerOf(document, { steps: true }));
      return {
        add: ({ facts, decision }) => counts.add(facts, decision),
        result: () => counts.cube(),
      };
    });
  }

  /** What two documents make of the applications of the last 30 days. */
  pair(before: PolicyDocument, after: PolicyDocument): Promise<Counted<PairReport> | Counting> {
    return this.#ask(`pair ${digestOf(before)} ${digestOf(after)}`, () => {
      const counts = new PairCounts(before, after);
      return { add: ({ facts }) => counts.add(facts), result: () => counts.report() };
    });
  }

  /** What was decided in the last 30 days, day by day, and the drift of the last seven. */
  watch(): Promise<Counted<Watched> | Counting> {
    return this.#ask('watch', async () => {
      const cards = await readCards(this.#database);
      const found = await drift(this.#database, { days: DRIFT_DAYS, baseline: null });
      const counts = new WatchCounts();
      return {
        add: (decided, { day, policyId }) => counts.add(day, cards.get(policyId), decided.facts, decided),
        result: () => ({ ...counts.report(), drift: found }),
      };
    });
  }

  async #ask<T>(key: string, make: () => Counter<T> | Promise<Counter<T>>): Promise<Counted<T> | Counting> {
    const now = this.#clock.monotonicMs();
    for (const [name, { counted, failure, at }] of this.#entries)
      if ((counted !== null || failure !== null) && now - at > KEPT_MS) this.#entries.delete(name);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      // The page asks again in a second.
      if (this.#entries.size >= MOST) return { counting: true, counted: 0 };
      entry = this.#begin(make);
      this.#entries.set(key, entry);
    }
    await Promise.race([entry.done, this.#clock.sleep(WAIT_MS, { ref: false })]);
    if (entry.failure !== null) {
      this.#entries.delete(key);
      throw entry.failure;
    }
    return (entry.counted as Counted<T> | null) ?? { counting: true, counted: entry.applications };
  }

  #begin<T>(make: () => Counter<T> | Promise<Counter<T>>): Entry {
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry: Entry = { done: promise, counted: null, failure: null, applications: 0, at: 0 };
    this.#last = this.#last
      .then(async () => this.#count(await make(), entry))
      .catch((error: unknown) => {
        entry.failure = error;
      })
      .then(() => {
        entry.at = this.#clock.monotonicMs();
        resolve();
      });
    return entry;
  }

  async #count<T>(counter: Counter<T>, entry: Entry): Promise<void> {
    const since = await dayBefore(this.#database, HISTORY_DAYS);
    const decided = new DecidedFacts();
    for await (const page of decidedBatches(this.#database, since)) {
      for (const batch of page) {
        for (let position = decided.beginText(batch.facts) - 1; position >= 0; position -= 1) {
          if (decided.read(position) !== 'read') continue;
          counter.add(decided, batch);
          entry.applications += 1;
        }
      }
    }
    entry.counted = { counting: false, since, result: counter.result() };
  }
}
