/**
 * Names for files and folders that are made beside their final place and then renamed, and the removal of those that
 * ended processes left behind. Touches files; asks the system which processes live.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/describe-error.ts';

/**
 * No temporary is in use for longer than this (initdb is stopped after two minutes), except those of `keepYoung`. So an
 * older one is stale, even if another process has its pid now.
 */
const STALE_AFTER_MS = 10 * 60_000;
const YOUNG_EVERY_MS = 60_000;

const live = new Set<string>();

/** A new name beside `path` for a file or folder that is renamed to `path` when it is complete; creates nothing. */
export function temporaryBeside(path: string): string {
  const temporary = `${path}.making-${process.pid}-${randomBytes(4).toString('hex')}`;
  live.add(basename(temporary));
  return temporary;
}

/** Removes a temporary if it exists. */
export async function discard(temporary: string): Promise<void> {
  // An initdb that was left behind may still be writing into the temporary, so the removal is retried.
  await rm(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  live.delete(basename(temporary));
}

/** Keeps a temporary from becoming stale during long work. Call the returned function at the end of that work. */
export function keepYoung(temporary: string, clock: Clock): () => void {
  const refresh = () => {
    const now = new Date(clock.nowMs());
    utimes(temporary, now, now).catch(() => {});
  };
  const timer = clock.every(YOUNG_EVERY_MS, refresh, { ref: false });
  return () => timer.cancel();
}

/** Removes temporaries that ended processes left beside `path`. */
export async function discardStale(path: string, clock: Clock): Promise<void> {
  for (const { temporary, isStale } of await temporariesBeside(path, clock)) {
    if (isStale) await discard(temporary);
  }
}

/** The temporaries of other processes, and of ended ones, beside `path`. */
export async function temporariesBeside(
  path: string,
  clock: Clock,
): Promise<{ temporary: string; isStale: boolean }[]> {
  const prefix = `${basename(path)}.making-`;
  const found: { temporary: string; isStale: boolean }[] = [];
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix) || live.has(name)) continue;
    const temporary = join(dirname(path), name);
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    const isUsed = (await isYoung(temporary, clock)) && pid !== process.pid && (await isRunning(pid));
    found.push({ temporary, isStale: !isUsed });
  }
  return found;
}

async function isYoung(path: string, clock: Clock): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && clock.nowMs() - found.mtimeMs < STALE_AFTER_MS;
}

async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  // A process that has ended but that its parent has not waited for (in a container perhaps never) has no arguments.
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'no /proc')) !== '';
}
