/** Hostile clients, each in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ATTACKS, type Attack } from './attacks.ts';
import type { Fault, Scene } from './fault.ts';

/** An attack takes a few seconds. */
const WITHIN_MS = 120_000;
const NAMES = Object.keys(ATTACKS) as Attack[];
let attacks = 0;

export const FLOOD_FAULTS: readonly Fault[] = [
  {
    name: 'hostile clients',
    cards: 2,
    run: (scene, random) => attack(scene, NAMES[random.between(0, NAMES.length - 1)]!),
  },
];

/** Does an attack on one of the services. */
export async function attack({ stage, flood }: Scene, name: Attack): Promise<void> {
  attacks += 1;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacks.ts'), name], {
    env: {
      ...process.env,
      ATTACK_URL: stage.urls[attacks % stage.urls.length],
      ATTACK_KEY: flood.apiKey,
      ATTACK_STREAM: String(attacks),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  await once(child, 'exit');
}
