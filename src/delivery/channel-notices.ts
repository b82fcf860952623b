/** Keeps what the channel's answers say of more than their message: the channel may say it only once. */

import { againAfterConflict } from '../storage/conflicts.ts';
import type { Database } from '../storage/database.ts';
import { RetryingWriter } from './retrying-writer.ts';
import { type ChannelNotice, type NewPause, storeNotices } from './sql/channel-notices.ts';

export class ChannelNotices {
  readonly #writer: RetryingWriter<ChannelNotice>;

  /**
   * `onPause` hears of what is paused until an operator resumes it. `onLost` hears of notices that cannot be stored, or not
   * within `keepTryingMs`.
   */
  constructor(
    database: Database,
    keepTryingMs: number,
    onPause: (pause: NewPause) => void,
    onLost: (notices: readonly ChannelNotice[], error: unknown) => void,
  ) {
    this.#writer = new RetryingWriter(keepTryingMs, {
      store: async (notices) => {
        const pauses = await againAfterConflict(() => storeNotices(database, notices));
        for (const pause of pauses) onPause(pause);
      },
      onLost,
    });
  }

  /** Resolves when the word is stored, or lost. */
  store(notice: ChannelNotice): Promise<void> {
    return this.#writer.write(notice);
  }
}
