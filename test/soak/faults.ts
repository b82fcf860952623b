/** The faults of a soak. When a fault resolves, it is over and everything is started again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault as StatementFault } from '../support/middleman.ts';
import { FAKETIME, type Program } from '../support/program.ts';
import type { Random } from '../support/random.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import type { Partner } from './ledger.ts';
import type { Promises } from './promises.ts';
import type { Stage } from './stage.ts';

/** A stop takes at most 8 s; the rest is for a busy machine. */
const STOP_WITHIN_MS = 20_000;
const CLOCKS = ['-2h', '-3s', '+3s', '+40h'];
const TERMINATE = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.5`;

export interface Scene {
  readonly stage: Stage;
  readonly promises: Promises;
  readonly random: Random;
  /** The partner whose key the attacks use. */
  readonly attacker: Partner;
}

export type Fault = (scene: Scene) => Promise<void>;

let attacks = 0;

/** By name, as words that follow "at 12 s:". */
export const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['the service is killed', ({ stage }) => restart(stage.service)],
  ['a worker is killed', ({ stage, random }) => restart(oneWorker(stage, random))],
  [
    'service and workers are killed together',
    async ({ stage }) => {
      await Promise.all([stage.service, ...stage.workers].map((program) => restart(program)));
    },
  ],
  ['the service is stopped', async (scene) => stopAndStart(scene, scene.stage.service)],
  ['a worker is stopped', async (scene) => stopAndStart(scene, oneWorker(scene.stage, scene.random))],
  ['the postmaster is killed', ({ stage }) => stage.store.kill()],
  [
    'half of the sessions are terminated',
    async ({ stage }) => void (await stage.store.database.query(TERMINATE)),
  ],
  ['every connection to the database breaks', async ({ stage }) => stage.store.middleman.dropAll()],
  [
    'the network to the database is silent',
    async ({ stage: { store }, random }) => {
      store.middleman.blackHole = true;
      await sleep(random.between(500, 5_000));
      store.middleman.heal();
    },
  ],
  [
    'registering statements are lost, cut off or not answered',
    async ({ stage: { store }, random }) => {
      const kinds: StatementFault[] = ['before', 'at_once', 'after', 'swallow'];
      store.middleman.faults.push(...random.shuffled([...kinds, ...kinds]));
      await sleep(2_000);
      store.middleman.faults.length = 0;
    },
  ],
  [
    'the channel hangs up',
    async ({ stage: { api }, random }) => {
      api.closeUnread = random.between(5, 40);
      await sleep(1_000);
      api.closeUnread = 0;
    },
  ],
  // The service works on until the next fault, because its upkeep comes after a while.
  [
    'the clock of one more worker is wrong',
    ({ stage, random }) => restart(stage.stranger, wrongClock(random)),
  ],
  ['the clock of the service is wrong', ({ stage, random }) => restart(stage.service, wrongClock(random))],
  ...(Object.keys(ATTACKS) as Attack[]).map((name): [string, Fault] => [
    name,
    (scene) => attack(scene, name),
  ]),
]);

/** Faults that need a program which this machine does not have. */
export function isPossible(name: string): boolean {
  return FAKETIME !== undefined || !name.startsWith('the clock');
}

/** Runs until the attack's process has ended. */
export async function attack({ stage, attacker }: Scene, name: Attack): Promise<void> {
  attacks += 1;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacks.ts'), name], {
    env: {
      ...process.env,
      ATTACK_URL: stage.url,
      ATTACK_KEY: attacker.apiKey,
      ATTACK_STREAM: String(attacks),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
}

function oneWorker({ workers }: Stage, random: Random): Program {
  return workers[random.between(0, workers.length - 1)] as Program;
}

function wrongClock(random: Random): string {
  return CLOCKS[random.between(0, CLOCKS.length - 1)] as string;
}

async function restart(program: Program, clock?: string): Promise<void> {
  await program.kill();
  await program.start(clock);
}

async function stopAndStart({ promises }: Scene, program: Program): Promise<void> {
  const { code, ms } = await program.stop();
  promises.hold('stops', code === 0 && ms < STOP_WITHIN_MS, () => `code ${code} after ${Math.round(ms)} ms`);
  await program.start();
}
