/** Looks at the service all the time: does /healthz answer, and how much memory is there? */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Promises } from './promises.ts';
import type { Stage } from './stage.ts';

const EVERY_MS = 250;
/** It answers within 2 s; the rest is for a machine that has more to do. */
const ANSWER_WITHIN_MS = 5_000;

export class Watch {
  /** Of /healthz, in milliseconds. */
  slowest = 0;
  /** Of the service, in MiB. */
  mostMemory = 0;
  readonly #stage: Stage;
  readonly #promises: Promises;
  readonly #loop: Promise<void>;
  #isOver = false;

  constructor(stage: Stage, promises: Promises) {
    this.#stage = stage;
    this.#promises = promises;
    this.#loop = this.#run();
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await this.#look();
      await sleep(EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const { service, opsUrl } = this.#stage;
    const isSame = watchFor(service);
    if (!isSame()) return;
    const start = performance.now();
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const status = await fetch(`${opsUrl}/healthz`, { signal }).then(
      ({ status }) => status,
      () => null,
    );
    const ms = performance.now() - start;
    this.mostMemory = Math.max(this.mostMemory, service.memory ?? 0);
    // What is killed, stopped or starts owes no answer.
    if (!isSame()) return;
    this.slowest = Math.max(this.slowest, ms);
    this.#promises.hold('health', status === 200, () => `${status} after ${Math.round(ms)} ms`);
  }
}

/** Tells whether it is still the same process, which is ready and which nobody has told to end. */
function watchFor(service: Stage['service']): () => boolean {
  const pid = service.readyPid;
  return () => pid !== null && service.readyPid === pid;
}
