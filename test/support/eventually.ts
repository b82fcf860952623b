/** Waits for what has to come. */
import { setTimeout as sleep } from 'node:timers/promises';

/** So long takes only what never comes, on a busy machine too. */
export const PATIENCE_MS = 60_000;
/** What a busy machine may add to a wait of the service's own: over ten times what an idle one adds. */
export const SLACK_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** The first value of `look` that is neither undefined nor false, asked for again and again; fails after a minute. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > giveUpAt) throw new Error(`waited ${PATIENCE_MS / 1_000} s for ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
