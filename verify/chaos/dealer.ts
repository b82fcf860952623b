/** Deals faults like a pack of cards, shuffled each time by the seed, until the time is over. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../test/support/random.ts';
import type { Fault, Scene } from './faults/fault.ts';

const RECOVERY_WITHIN_MS = 60_000;
const POLL_MS = 50;

interface Dealing {
  readonly faults: readonly Fault[];
  readonly random: Random;
  readonly untilMs: number;
  /** The longest rest between two faults. */
  readonly restMs: number;
  /** The batches that were answered with 200 so far. */
  readonly answered: () => number;
  readonly say: (text: string) => void;
}

export async function deal(scene: Scene, dealing: Dealing): Promise<void> {
  const { random, untilMs, restMs, say } = dealing;
  const cards = dealing.faults
    .filter(({ isPossible }) => isPossible?.(scene.stage) ?? true)
    .flatMap((fault) => Array.from({ length: fault.cards }, () => fault));
  let pack: Fault[] = [];
  while (scene.recorder.nowMs() < untilMs) {
    if (cards.length === 0) {
      await sleep(POLL_MS);
      continue;
    }
    if (pack.length === 0) pack = random.shuffled(cards);
    const fault = pack.pop()!;
    // What one fault draws does not change the others.
    const own = random.fork();
    say(fault.name);
    await scene.recorder
      .during(fault.name, () => fault.run(scene, own))
      .catch((error: Error) =>
        scene.promises.hold('recovery', false, () => `${fault.name}: ${error.message}`),
      );
    await checkRecovery(scene, fault, dealing.answered);
    await sleep(own.between(0, restMs));
  }
}

async function checkRecovery(scene: Scene, { name }: Fault, answered: () => number): Promise<void> {
  const { promises, stage, recorder } = scene;
  const before = answered();
  const from = recorder.nowMs();
  while (answered() === before) {
    for (const one of [...stage.services, ...stage.workers]) {
      if (!one.program.hasDied) continue;
      // A program that died by itself is started again, and its death is reported.
      promises.hold('recovery', false, () => `${one.name} ended: ${name}`);
      await one.program.start().catch(() => {});
    }
    if (recorder.nowMs() - from > RECOVERY_WITHIN_MS) {
      const waits = await stage.store.waits();
      promises.hold(
        'recovery',
        false,
        () => `nothing is registered after ${RECOVERY_WITHIN_MS} ms: ${name}; ${waits}`,
      );
      return;
    }
    await sleep(POLL_MS);
  }
  promises.hold('recovery', true, () => '');
}
