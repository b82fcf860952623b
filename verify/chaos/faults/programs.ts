/** Faults of the programs: kills, stops, wrong clocks. */
import { FAKETIME, type Program } from '../../../test/support/program.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Process, Stage } from '../stage.ts';
import { count, type Fault, type Scene } from './fault.ts';

/** A stop takes at most 8 s; the rest is for a busy machine. */
const STOP_WITHIN_MS = 20_000;
const CLOCKS = ['-2h', '-3s', '+3s', '+40h'];

const hasFaketime = () => FAKETIME !== undefined;

/** One after the other, beside the faults of the world. */
export const PROGRAM_FAULTS: readonly Fault[] = [
  {
    name: 'a service is killed',
    cards: 5,
    run: (scene, random) => kill(scene, [oneOf(scene.stage.services, random)]),
  },
  {
    name: 'a worker is killed',
    cards: 5,
    run: (scene, random) => kill(scene, [oneOf(scene.stage.workers, random)]),
  },
  { name: 'all services are killed', cards: 1, run: (scene) => kill(scene, scene.stage.services) },
  {
    name: 'services and workers are killed together',
    cards: 2,
    run: (scene) => kill(scene, [...scene.stage.services, ...scene.stage.workers]),
  },
  {
    name: 'a service is stopped',
    cards: 1,
    run: (scene, random) => stopAndStart(scene, oneOf(scene.stage.services, random)),
  },
  {
    name: 'a worker is stopped',
    cards: 1,
    run: (scene, random) => stopAndStart(scene, oneOf(scene.stage.workers, random)),
  },
  {
    name: 'the clock of a service is wrong',
    cards: 1,
    isPossible: hasFaketime,
    // The service works on until the next fault, because its upkeep comes after a while.
    run: (scene, random) => kill(scene, [oneOf(scene.stage.services, random)], wrongClock(random)),
  },
  {
    name: 'the clock of one more worker is wrong',
    cards: 1,
    isPossible: hasFaketime,
    run: (scene, random) => kill(scene, [scene.stage.stranger], wrongClock(random)),
  },
];

function oneOf(processes: Stage['services'], random: Random): Process {
  return processes[random.between(0, processes.length - 1)]!;
}

function wrongClock(random: Random): string {
  return CLOCKS[random.between(0, CLOCKS.length - 1)]!;
}

/** Kills them at the same moment and starts them again. */
async function kill(scene: Scene, processes: readonly Process[], clock?: string): Promise<void> {
  const restart = async (program: Program) => {
    if (program.pid !== null) count(scene, 'kills of a program');
    await program.kill();
    await program.start(clock);
  };
  await Promise.all(processes.map(({ program }) => restart(program)));
}

async function stopAndStart({ promises }: Scene, { name, program }: Process): Promise<void> {
  const { code, ms } = await program.stop();
  const isGood = code === 0 && ms < STOP_WITHIN_MS;
  promises.hold('stops', isGood, () => `${name}: code ${code} after ${Math.round(ms)} ms`);
  await program.start();
}
