/**
 * Lets one page of each partner's feed be read at a time (D37; ARCHITECTURE, "Who is served when"). Touches its clock
 * alone. A client reads its pages one after the other anyway. Pages that are read at the same time share the processor:
 * if each has large envelopes to open, all would be late.
 */

import type { PartnerId } from '../../domain/partner/credential.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { OverloadError } from '../../ground/base/registration-failure.ts';
import { LONGEST_WAIT_MS } from './admission.ts';

const RETRY_AFTER_S = 1;

export class FeedTurns {
  /** By partner, while a page is read: resolves when the last page so far has ended. */
  readonly #last = new Map<PartnerId, Promise<void>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the work when the partner's pages before it have ended. Throws `OverloadError` if that takes too long. */
  async during<T>(partnerId: PartnerId, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(partnerId);
    const own = Promise.withResolvers<void>();
    const ended = Promise.all([before, own.promise]).then(() => {
      if (this.#last.get(partnerId) === ended) this.#last.delete(partnerId);
    });
    this.#last.set(partnerId, ended);
    try {
      if (before !== undefined) await atMost(this.#clock, before, LONGEST_WAIT_MS);
      return await work();
    } finally {
      own.resolve();
    }
  }
}

async function atMost(clock: Clock, before: Promise<void>, longestMs: number): Promise<void> {
  const abort = new AbortController();
  const tooLong = clock.sleep(longestMs, { signal: abort.signal }).then(() => {
    throw new OverloadError(RETRY_AFTER_S);
  });
  tooLong.catch(() => {});
  try {
    await Promise.race([before, tooLong]);
  } finally {
    abort.abort();
  }
}
