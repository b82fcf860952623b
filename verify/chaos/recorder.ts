/** What the clients of a run saw, as they saw it, and what was done to the service meanwhile. */
import type * as H from '../history/history.ts';

/** A request and how it ended: the status, or `closed` without an answer. */
interface Seen {
  readonly atMs: number;
  readonly ms: number;
  readonly end: number | 'closed';
  readonly registered: number;
}

/** A fault and its time; Infinity while it goes on. */
interface Mark {
  readonly name: string;
  readonly fromMs: number;
  toMs: number;
}

/** An application that operators may review. */
interface Reviewable {
  readonly id: number;
  readonly status: string;
}

const MOST_REVIEWABLE = 2_000;

export class Recorder {
  readonly partners: H.Partner[] = [];
  readonly batches: H.Batch[] = [];
  readonly reviews: H.Review[] = [];
  readonly operators: H.DeskOperator[] = [];
  readonly deskActs: H.DeskAct[] = [];
  readonly optOuts: H.OptOut[] = [];
  readonly quota: H.QuotaReading[] = [];
  readonly feeds = new Map<number, H.ReadEvent[]>();
  readonly clockSteps: H.ClockStep[] = [];
  readonly seen: Seen[] = [];
  readonly marks: Mark[] = [];
  /** The newest registered applications. */
  readonly reviewable: Reviewable[] = [];
  readonly #start = performance.now();

  /** Milliseconds of the run. */
  nowMs(): number {
    return performance.now() - this.#start;
  }

  /** The moment of the run of a time of `performance.now()`. */
  msOf(at: number): number {
    return at - this.#start;
  }

  noteCall({ fromMs, toMs, answer }: H.Call): void {
    const registered = (answer?.outcomes ?? []).filter((outcome) => outcome.kind === 'registered');
    const end = answer?.status ?? 'closed';
    // Only the first answer registers.
    const count = answer?.isReplay === false ? registered.length : 0;
    this.seen.push({ atMs: toMs, ms: toMs - fromMs, end, registered: count });
    for (const { id, status } of registered) this.reviewable.push({ id, status });
    this.reviewable.splice(0, Math.max(0, this.reviewable.length - MOST_REVIEWABLE));
  }

  /** Notes that something is done to the service, while `work` goes on. */
  async during<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mark = { name, fromMs: this.nowMs(), toMs: Number.POSITIVE_INFINITY };
    this.marks.push(mark);
    try {
      return await work();
    } finally {
      mark.toMs = this.nowMs();
    }
  }

  get acknowledged(): number {
    return this.seen.reduce((sum, { registered }) => sum + registered, 0);
  }
}
