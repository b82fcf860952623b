/** Stores the channel's notices and retries until that works, because the channel may give a notice only once. */
import type { Clock } from '../../../ground/base/clock.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { RetryingWriter } from '../../../program/queue/retrying-writer.ts';
import { type ChannelNotice, type NewPause, storeNotices } from '../sql/channel-notices.ts';

export class ChannelNotices {
  readonly #writer: RetryingWriter<ChannelNotice>;

  /**
   * `onPause` is called with each new pause. `onLost` is called with notices that could not be stored within
   * `keepTryingMs`.
   */
  constructor(
    database: Database,
    clock: Clock,
    keepTryingMs: number,
    onPause: (pause: NewPause) => void,
    onLost: (notices: readonly ChannelNotice[], error: unknown) => void,
  ) {
    this.#writer = new RetryingWriter(keepTryingMs, {
      clock,
      store: async (notices) => {
        const pauses = await againAfterConflict(() => storeNotices(database, notices));
        for (const pause of pauses) onPause(pause);
      },
      onLost,
    });
  }

  /** Resolves when the notice is stored, or lost. */
  store(notice: ChannelNotice): Promise<void> {
    return this.#writer.write(notice);
  }
}
