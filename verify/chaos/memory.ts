/** Whether memory comes back after floods. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './faults/attacks.ts';
import type { Scene } from './faults/fault.ts';
import { attack } from './faults/floods.ts';

const FLOODS: readonly Attack[] = [
  'pipelined requests of clients that leave',
  'large webhooks without a signature',
  'a flood of batches by one partner',
];
const BACK_WITHIN_MS = 30_000;
/** How much more memory a service may hold after a flood than before. */
const MORE_MIB = 300;
const LOOK_EVERY_MS = 200;

/** Floods the services, and waits until their memory is back. */
export async function checkMemory(scene: Scene): Promise<void> {
  const { stage, promises } = scene;
  const used = () => stage.services.map(({ program }) => program.memory ?? 0);
  const before = used();
  for (const flood of FLOODS) await attack(scene, flood);
  const isBack = await comesBack(before, used, BACK_WITHIN_MS);
  const shown = (mib: readonly number[]) => mib.map(Math.round).join(' and ');
  promises.hold('memory', isBack, () => `${shown(before)} MiB before, ${shown(used())} after`);
}

/** Whether each process uses hardly more MiB than before, at the latest after `withinMs`. */
export async function comesBack(
  before: readonly number[],
  used: () => readonly number[],
  withinMs: number,
): Promise<boolean> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    if (used().every((mib, index) => mib < before[index]! + MORE_MIB)) return true;
    if (performance.now() > giveUpAtMs) return false;
    await sleep(LOOK_EVERY_MS);
  }
}
