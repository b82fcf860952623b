/** Kills services and PostgreSQL while the applicants write, and starts them again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../../test/support/program.ts';
import type { Random } from '../../test/support/random.ts';
import type { Stage } from './stage.ts';

export interface KillPlan {
  /** The longest rest between two kills; null: nobody is killed. */
  readonly restMs: number | null;
  /** The share of the kills that end PostgreSQL. */
  readonly postgres: number;
  /** So many kills at most. */
  readonly most: number;
  readonly random: Random;
  /** Called while a killed service is away. */
  readonly whileAway?: () => Promise<void>;
}

const AWAY_MS = 1_000;

export class Kills {
  services = 0;
  postgres = 0;
  readonly #stage: Pick<Stage, 'programs' | 'postgres'>;
  readonly #plan: KillPlan;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;

  constructor(stage: Pick<Stage, 'programs' | 'postgres'>, plan: KillPlan) {
    this.#stage = stage;
    this.#plan = plan;
    this.#loop = this.#run();
  }

  /** Kills nobody more. Everything runs when this resolves. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#loop;
  }

  async #run(): Promise<void> {
    const { restMs, random, postgres, most } = this.#plan;
    const { signal } = this.#stopping;
    while (restMs !== null && !signal.aborted && this.services + this.postgres < most) {
      await sleep(random.between(0, restMs), undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      if (random.isLucky(postgres)) {
        this.postgres += 1;
        await this.#stage.postgres.kill();
      } else await this.#kill(this.#stage.programs[random.between(0, this.#stage.programs.length - 1)]!);
    }
  }

  async #kill(program: Program): Promise<void> {
    this.services += 1;
    await program.kill();
    await sleep(this.#plan.random.between(0, AWAY_MS));
    await this.#plan.whileAway?.();
    // As a supervisor does: a start gives up where the database does not answer.
    for (let isUp = false; !isUp; ) {
      isUp = await program.start().then(
        () => true,
        () => false,
      );
    }
  }
}
