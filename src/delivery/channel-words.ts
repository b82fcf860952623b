/** Keeps what the channel's answers say of more than their message: the channel may say it only once. */

import { againAfterConflict } from '../storage/conflicts.ts';
import type { Database } from '../storage/database.ts';
import { PatientStore } from './patient-store.ts';
import { type ChannelWord, keepWords, type Pause } from './sql/channel-words.ts';

export class ChannelWords {
  readonly #store: PatientStore<ChannelWord>;

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
    this.#store = new PatientStore(keepTryingMs, {
      store: async (words) => {
        const pauses = await againAfterConflict(() => keepWords(database, words));
        for (const pause of pauses) onPause(pause);
      },
      onLost,
    });
  }

  /** Resolves when the word is stored, or lost. */
  keep(word: ChannelWord): Promise<void> {
    return this.#store.keep(word);
  }
}
