/**
 * Finds and removes clusters that a killed restore left behind, and stops their servers. Touches files and processes.
 * src/subjects/backup/README.md has the rule.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { discard, temporariesBeside } from '../files/temporary.ts';
import { findPostmaster, isServer } from './postmaster.ts';

const END_WITHIN_MS = 10_000;
const POLL_MS = 20;

/** The path beside which a folder's clusters are recovered. Clusters that `initdb` makes have another path. */
export function recoveredIn(home: string): string {
  return join(home, 'postgres.recovered');
}

/**
 * Removes what killed restores left in a folder, and stops their servers. Returns whether another restore is still
 * running.
 */
export async function clearRecoveries(home: string, clock: Clock): Promise<boolean> {
  let isGoing = false;
  for (const { temporary, isStale } of await temporariesBeside(recoveredIn(home), clock)) {
    if (isStale) await abandon(temporary, clock);
    else isGoing = true;
  }
  return isGoing;
}

/** Stops the server first: one that still recovers would write files while they are removed. */
async function abandon(directory: string, clock: Clock): Promise<void> {
  const pid = (await findPostmaster(directory, clock).catch(() => undefined))?.pid ?? 0;
  if (pid > 0 && (await isServer(pid, directory))) {
    process.kill(pid, 'SIGQUIT');
    const until = clock.monotonicMs() + END_WITHIN_MS;
    while (clock.monotonicMs() < until && (await isServer(pid, directory))) await clock.sleep(POLL_MS);
  }
  await discard(directory);
}
