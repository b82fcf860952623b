/** Watches the service all the time: whether /healthz answers, and how much memory the service uses. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Promises } from './promises.ts';
import type { Stage } from './stage.ts';

const EVERY_MS = 250;
/** The service answers within 2 s; the rest is for a busy machine. */
const ANSWER_WITHIN_MS = 5_000;

export class Watch {
  /** Longest answer of /healthz, in milliseconds. */
  slowest = 0;
  /** Most memory of the service, in MiB. */
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
    // A service that is killed, stopped or starting need not answer.
    if (!isSame()) return;
    this.slowest = Math.max(this.slowest, ms);
    this.#promises.hold('health', status === 200, () => `${status} after ${Math.round(ms)} ms`);
  }
}

/** Whether this is still the same process, which is ready and was not told to end. */
function watchFor(service: Stage['service']): () => boolean {
  const pid = service.readyPid;
  return () => pid !== null && service.readyPid === pid;
}
