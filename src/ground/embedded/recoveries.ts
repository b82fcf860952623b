/** Clusters that a restore has not put into their place yet. */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { discard, temporariesBeside } from '../files/temporary.ts';
import { findPostmaster, isServer } from './postmaster.ts';

const END_WITHIN_MS = 10_000;
const POLL_MS = 20;

/** The name beside which clusters are recovered in a folder. Those that `initdb` makes have another one. */
export function recoveredIn(home: string): string {
  return join(home, 'postgres.recovered');
}

/**
 * Removes what restores into a folder left whose process was killed, and stops their servers. Returns whether another
 * restore goes on.
 */
export async function clearRecoveries(home: string, clock: Clock): Promise<boolean> {
  let isGoing = false;
  for (const { temporary, isStale } of await temporariesBeside(recoveredIn(home), clock)) {
    if (isStale) await abandon(temporary, clock);
    else isGoing = true;
  }
  return isGoing;
}

/** A server that goes on recovering would write files while they are removed. */
async function abandon(directory: string, clock: Clock): Promise<void> {
  const pid = (await findPostmaster(directory, clock).catch(() => undefined))?.pid ?? 0;
  if (pid > 0 && (await isServer(pid, directory))) {
    process.kill(pid, 'SIGQUIT');
    const until = clock.monotonicMs() + END_WITHIN_MS;
    while (clock.monotonicMs() < until && (await isServer(pid, directory))) await clock.sleep(POLL_MS);
  }
  await discard(directory);
}
