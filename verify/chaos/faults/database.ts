/** Faults of the store: kills, failovers, a full disk, a restore, steps of its clock. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage.ts';
import { count, type Fault } from './fault.ts';

const HOUR_MS = 3_600_000;
/** How far the database's clock may stand from the right time. */
const CLOCKS_MS = [-2 * HOUR_MS, -3_000, 3_000, 2 * HOUR_MS, 40 * HOUR_MS];
const TERMINATE = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND random() < 0.5`;

const hasStandby = ({ store }: Stage) => store.hasStandby;

/** The fault that needs a small disk. */
export const FULL_DISK: Fault = {
  name: 'the disk is full',
  cards: 1,
  isPossible: ({ store }) => store.disk.isOwn,
  run: async (scene, random) => {
    count(scene, 'kills of PostgreSQL');
    await scene.stage.store.fillDisk(random.between(0, 2_000));
  },
};

export const DATABASE_FAULTS: readonly Fault[] = [
  {
    name: 'the postmaster is killed',
    cards: 5,
    run: async (scene) => {
      count(scene, 'kills of PostgreSQL');
      await scene.stage.store.kill();
    },
  },
  {
    name: 'the primary is lost, and its standby leads',
    cards: 1,
    isPossible: hasStandby,
    run: async (scene) => {
      count(scene, 'failovers');
      await scene.stage.store.failOver();
    },
  },
  {
    name: 'the standby is away',
    cards: 1,
    isPossible: hasStandby,
    run: ({ stage }, random) => stage.store.loseStandby(random.between(200, 4_000)),
  },
  {
    name: 'half of the sessions are terminated',
    cards: 1,
    run: async ({ stage }) => void (await stage.store.database.query(TERMINATE)),
  },
  FULL_DISK,
  {
    name: 'the store is lost and restored from its backup',
    cards: 1,
    run: (scene) => scene.quietly(() => loseAndRestore(scene)),
  },
  {
    name: "the database's clock steps",
    cards: 1,
    run: async (scene, random) => {
      const { stage, recorder } = scene;
      const aheadMs = CLOCKS_MS[random.between(0, CLOCKS_MS.length - 1)]!;
      const step = { fromMs: recorder.nowMs(), toMs: Number.POSITIVE_INFINITY, aheadMs };
      // Where the connection dies, nobody knows whether the clock was set.
      recorder.clockSteps.push(step);
      await stage.store.clock.set(stage.store.database, aheadMs);
      step.toMs = recorder.nowMs();
      count(scene, 'steps of the clock');
      await sleep(random.between(500, 5_000));
    },
  },
];

/** The backup is made while the clients work, and nothing is acknowledged between its end and the loss. */
async function loseAndRestore(scene: Parameters<Fault['run']>[0]): Promise<void> {
  const { stage, gate } = scene;
  const programs = [...stage.services, ...stage.workers, stage.stranger].map(({ program }) => program);
  const running = programs.filter(({ pid }) => pid !== null);
  count(scene, 'restores');
  try {
    await stage.store.loseAndRestore(stage.folder, async () => {
      await gate.close();
      await Promise.all(running.map((program) => program.stop()));
    });
    await Promise.all(running.map((program) => program.start()));
  } finally {
    gate.open();
  }
}
