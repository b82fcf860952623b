/**
 * What a submission remembers of its batches: those that were sent under each Idempotency-Key, and their answers. It
 * knows neither Node nor a browser: the journal keeps it in a file, the portal's page while it is open.
 */
import type { Outcome } from '../../../../client/src/index.ts';
import type { Language } from '../../../../src/ground/base/language.ts';

/** `ground/base/clock.ts` has these too, and no browser loads it. */
export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The window of the quota (D18). */
const WINDOW_MS = DAY_MS;

/** A batch that was sent. `attempt` is above 1 where the quota left rows of the batch over. */
export interface SentLine {
  readonly kind: 'sent';
  readonly batch: number;
  readonly attempt: number;
  /** Numbers of the first and the last row. */
  readonly rows: readonly [number, number];
  readonly idempotencyKey: string;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** The language that the body asks the answer in. */
  readonly language: Language;
  /** A digest of the API key, which only tells keys apart. */
  readonly sender: string;
  readonly at: string;
}

interface RegisteredPlaces {
  readonly decision: string;
  readonly status: string;
  readonly places: readonly number[];
  readonly ids: readonly (number | null)[];
  readonly scores: readonly number[];
}

/** The answer to a batch. Places count from 0 within the batch. */
export interface AnsweredLine {
  readonly kind: 'answered';
  readonly batch: number;
  readonly attempt: number;
  readonly at: string;
  /** By decision and status: the places, and for each place the application's id (null in the sandbox) and score. */
  readonly registered: readonly RegisteredPlaces[];
  readonly refused: readonly {
    readonly kind: 'duplicate' | 'invalid';
    readonly reason: string;
    readonly places: readonly number[];
  }[];
  /** The places that the quota had no room for. */
  readonly left: readonly number[];
}

/** The attempts and answers of one batch. */
export interface BatchRecord {
  /** The last attempt, if its answer is not known. */
  inDoubt: SentLine | null;
  readonly answers: AnsweredLine[];
}

/** The batches of a submission that were sent. */
export class BatchRecords {
  readonly #batches = new Map<number, BatchRecord>();
  #last = 0;

  /** The highest number of a sent batch; 0 where no batch was sent. */
  get last(): number {
    return this.#last;
  }

  batch(number: number): BatchRecord {
    return this.#batches.get(number) ?? { inDoubt: null, answers: [] };
  }

  remember(line: SentLine | AnsweredLine): void {
    const record = this.batch(line.batch);
    this.#last = Math.max(this.#last, line.batch);
    this.#batches.set(line.batch, record);
    // A folder that two machines share may keep no locks. Two runs then send the same batches under the same keys, and
    // both add their lines.
    if (line.attempt <= record.answers.length) return;
    if (line.kind === 'sent') {
      record.inDoubt = line;
      return;
    }
    record.inDoubt = null;
    record.answers.push(line);
  }

  /**
   * The latest time at which the first applications of this submission leave the quota's window, and how many leave.
   * null where this submission registered none within the last 24 hours.
   */
  firstToLeave(now: Date): { readonly at: Date; readonly count: number } | null {
    let first: { at: Date; count: number } | null = null;
    for (const { answers } of this.#batches.values()) {
      for (const answer of answers) {
        const at = new Date(Date.parse(answer.at) + WINDOW_MS);
        const count = registeredIn(answer);
        if (count > 0 && at > now && (first === null || at < first.at)) first = { at, count };
      }
    }
    return first;
  }
}

/** Where a submission keeps its records. */
export interface Records {
  /** The id of the submission: the Idempotency-Keys begin with it. */
  readonly id: string;
  /** The name of the records, for texts. */
  readonly name: string;
  /** Tells senders apart. */
  readonly keyDigest: string;
  /** The highest number of a sent batch; 0 where no batch was sent. */
  readonly lastBatch: number;
  batch(number: number): BatchRecord;
  /** Resolves when the line is kept. A batch is sent only then. */
  add(line: SentLine): Promise<void>;
  /** Adds a line that need not be kept at once: if it is lost, the batch is sent again under its key. */
  note(line: AnsweredLine): void;
}

function registeredIn({ registered }: AnsweredLine): number {
  return registered.reduce((sum, { places }) => sum + places.length, 0);
}

/** A type of a line, with arrays that can grow. */
type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** The journal's line for an answer. `places` are the applications' places within the batch. */
export function answerOf(
  { batch, attempt }: SentLine,
  outcomes: readonly Outcome[],
  places: readonly number[],
  now: Date,
): AnsweredLine {
  const registered = new Map<string, Growing<RegisteredPlaces>>();
  const refused = new Map<string, { kind: 'duplicate' | 'invalid'; reason: string; places: number[] }>();
  const left: number[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const place = places[index]!;
    if (outcome.kind === 'registered') {
      const { decision, status, id, score } = outcome;
      const none = { decision, status, places: [], ids: [], scores: [] };
      const same = registered.get(`${decision} ${status}`) ?? none;
      same.places.push(place);
      same.ids.push(id);
      same.scores.push(score);
      registered.set(`${decision} ${status}`, same);
    } else if (outcome.kind === 'quota_exceeded') left.push(place);
    else {
      const { kind, error: reason } = outcome;
      const same = refused.get(`${kind} ${reason}`) ?? { kind, reason, places: [] };
      same.places.push(place);
      refused.set(`${kind} ${reason}`, same);
    }
  }
  return {
    kind: 'answered',
    batch,
    attempt,
    at: now.toISOString(),
    registered: [...registered.values()],
    refused: [...refused.values()],
    left,
  };
}
