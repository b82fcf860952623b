/** Waits for something that must happen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';

/** Only something that never happens takes this long, also on a machine that is busy and a quarter as fast. */
export const PATIENCE_MS = 240_000;
/** What a busy machine may add to a wait that has an end. Without its end the wait takes longer than this. */
export const SLACK_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Calls `look` until its value is neither undefined nor false, and gives that value; fails after `PATIENCE_MS`. */
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

/** Calls `giveUp` after so long: the end of a wait for something that may never come. Returns what cancels it. */
export function giveUpAfter(ms: number, giveUp: () => void): () => void {
  const timer = setTimeout(giveUp, ms);
  return () => clearTimeout(timer);
}

/** A pause on which no assertion depends, such as the one between two packets of a request. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms);
}

/** Waits for a service to say that it is ready: a busy machine may not answer the first probe in its 1.5 s. */
export async function readyAt(opsUrl: string): Promise<void> {
  await eventually(`${opsUrl}/readyz`, async () => (await fetch(`${opsUrl}/readyz`)).status === 200);
}

/** The machine's clock for tests that are about no limit: its signals abort what never happens alone. */
export const patientClock: Clock = { ...machineClock, timeout: () => machineClock.timeout(PATIENCE_MS) };
