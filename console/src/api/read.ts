/** Readings that are asked for again: the browser says what it has, and is told where that still holds. */
import type { QueryClient } from '@tanstack/react-query';
import { browserClock } from '../clock.ts';
import { AnswerError, ask, type Reply } from './ask.ts';

/** What was read, and when it was read as a whole, by the page's monotonic clock. */
export interface Reading<Body> extends Reply<Body> {
  readonly readAt: number;
}

/**
 * A query of a path below `/api`. The answer 304 leaves what is known. `wholeMs`: what is older is read as a whole, for
 * an entity tag that does not tell of everything.
 */
export function reading<Body>(
  queries: QueryClient,
  queryKey: readonly string[],
  path: string,
  wholeMs = Number.POSITIVE_INFINITY,
) {
  return {
    queryKey,
    queryFn: async (): Promise<Reading<Body>> => {
      for (;;) {
        const known = queries.getQueryData<Reading<Body>>(queryKey);
        const read = await readAfter(known, path, wholeMs);
        const now = queries.getQueryData<Reading<Body>>(queryKey);
        // What the page has written meanwhile, such as a new note, the answer may not have yet.
        if (now === known || now === undefined) return read;
      }
    },
  };
}

/** What is read of `path` after what is known of it; undefined: nothing is. */
async function readAfter<Body>(
  known: Reading<Body> | undefined,
  path: string,
  wholeMs: number,
): Promise<Reading<Body>> {
  const isYoung = known !== undefined && browserClock.monotonicMs() - known.readAt < wholeMs;
  const condition = isYoung && known.etag !== null ? { 'If-None-Match': known.etag } : undefined;
  try {
    const reply = await ask<Body>('GET', path, undefined, condition);
    return { ...reply, readAt: browserClock.monotonicMs() };
  } catch (error) {
    if (known && error instanceof AnswerError && error.status === 304) return known;
    throw error;
  }
}
