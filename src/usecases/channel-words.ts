/**
 * Keeps what the channel's answers say of more than their message. The channel may say it only once, so a statement that
 * failed is tried again. What comes while one is under way goes with the next.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChannelWord, keepWords, type Pause } from '../storage/channel-words.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import type { Database } from '../storage/database.ts';
import { Gathering } from '../storage/gathering.ts';
import { eachApart } from '../storage/row-fault.ts';

interface Job {
  readonly word: ChannelWord;
  readonly giveUpAt: number;
  done(): void;
}

const MAX_TOGETHER = 500;
const RETRY_PAUSE_MS = 500;

export class ChannelWords {
  readonly #database: Database;
  readonly #keepTryingMs: number;
  readonly #onPause: (pause: Pause) => void;
  readonly #onLost: (words: readonly ChannelWord[], error: unknown) => void;
  readonly #gathering: Gathering<Job>;

  /**
   * `onPause` hears of what is paused until an operator resumes it. `onLost` hears of words that cannot be stored, or not
   * within `keepTryingMs`.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onPause: (pause: Pause) => void,
    onLost: (words: readonly ChannelWord[], error: unknown) => void,
  ) {
    this.#database = database;
    this.#keepTryingMs = keepTryingMs;
    this.#onPause = onPause;
    this.#onLost = onLost;
    this.#gathering = new Gathering<Job>({
      lanes: 1,
      maxWaiting: Number.POSITIVE_INFINITY,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (jobs) => this.#run(jobs),
    });
  }

  /** Resolves when the word is stored, or lost. */
  keep(word: ChannelWord): Promise<void> {
    return new Promise((done) => {
      this.#gathering.add({ word, giveUpAt: performance.now() + this.#keepTryingMs, done });
    });
  }

  async #run(jobs: readonly Job[]): Promise<void> {
    let left = jobs;
    while (left.length > 0) {
      try {
        await this.#keepAll(left);
        break;
      } catch (error) {
        await sleep(RETRY_PAUSE_MS);
        const late = left.filter(({ giveUpAt }) => performance.now() >= giveUpAt);
        if (late.length > 0) this.#onLost(wordsOf(late), error);
        left = left.filter((job) => !late.includes(job));
      }
    }
    for (const job of jobs) job.done();
  }

  async #keepAll(jobs: readonly Job[]): Promise<void> {
    await eachApart(
      wordsOf(jobs),
      async (some) => {
        const pauses = await againAfterConflict(() => keepWords(this.#database, some));
        for (const pause of pauses) this.#onPause(pause);
      },
      (word, error) => this.#onLost([word], error),
    );
  }
}

function wordsOf(jobs: readonly Job[]): ChannelWord[] {
  return jobs.map(({ word }) => word);
}
