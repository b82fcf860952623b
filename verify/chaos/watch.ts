/** Watches the programs all the time: whether they answer /healthz, how much memory they use, what waits. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Promises } from './promises.ts';
import type { Recorder } from './recorder.ts';
import type { Process, Stage } from './stage.ts';

const LOOK_EVERY_MS = 500;
const SAMPLE_EVERY_MS = 2_000;
/** The service answers within 2 s; the rest is for a busy machine. */
const ANSWER_WITHIN_MS = 10_000;
/** A look that ends this much after its time limit tells of this process, which got no CPU. */
const STARVED_MS = 2_000;
const HEAP_USED = /^(?:\w+_)?nodejs_heap_size_used_bytes(?:\{.*\})? (\d\S*)$/m;
const MIB = 1024 * 1024;
const WAITING = `
  SELECT coalesce(sum(count), 0)::integer AS count FROM message_counts WHERE status IN ('queued', 'sending')`;
/** The deadlocks that the server counted; a crash resets the count. */
const DEADLOCKS = 'SELECT coalesce(sum(deadlocks), 0)::integer AS count FROM pg_stat_database';

/** Memory of a process in MiB. */
export interface MemorySample {
  readonly atMs: number;
  readonly process: string;
  /** Another pid is another life. */
  readonly pid: number;
  readonly residentMiB: number;
  /** null where the process did not tell. */
  readonly heapMiB: number | null;
}

export class Watch {
  readonly memory: MemorySample[] = [];
  /** Messages that wait, by time. */
  readonly waiting: { readonly atMs: number; readonly count: number }[] = [];
  /** Longest answer of /healthz, in milliseconds. */
  slowest = 0;
  /** How late the timers of this process come at most, in milliseconds: it is the network of all others. */
  readonly #lateness = monitorEventLoopDelay();
  readonly #stage: Stage;
  readonly #recorder: Recorder;
  readonly #promises: Promises;
  readonly #loops: Promise<unknown>;
  #isOver = false;

  constructor(stage: Stage, recorder: Recorder, promises: Promises) {
    this.#stage = stage;
    this.#recorder = recorder;
    this.#promises = promises;
    this.#lateness.enable();
    this.#loops = Promise.all([
      ...stage.services.map((service) => this.#every(LOOK_EVERY_MS, () => this.#look(service))),
      this.#every(SAMPLE_EVERY_MS, () => this.#sample()),
    ]);
  }

  get latenessMs(): number {
    return this.#lateness.percentile(99) / 1e6;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loops;
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await work();
      await sleep(ms);
    }
  }

  async #look({ name, program, opsUrl }: Process): Promise<void> {
    const pid = program.readyPid;
    if (pid === null) return;
    const start = performance.now();
    const status = await fetch(`${opsUrl}/healthz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
      (response) => response.status,
      () => null,
    );
    const ms = performance.now() - start;
    // A service that is killed, stopped or starting need not answer.
    if (program.readyPid !== pid) return;
    this.slowest = Math.max(this.slowest, ms);
    holdHealth(this.#promises, name, status, ms);
  }

  async #sample(): Promise<void> {
    const { services, workers, store } = this.#stage;
    await Promise.all([...services, ...workers].map((process) => this.#sampleMemory(process)));
    const ask = async (text: string) =>
      (await store.database.query<{ count: number }>(text).catch(() => null))?.rows[0]?.count ?? null;
    const count = await ask(WAITING);
    if (count !== null) this.waiting.push({ atMs: this.#recorder.nowMs(), count });
    const deadlocks = await ask(DEADLOCKS);
    if (deadlocks !== null) this.#promises.hold('deadlocks', deadlocks === 0, () => `${deadlocks} counted`);
  }

  async #sampleMemory({ name, program, metricsUrl }: Process): Promise<void> {
    const pid = program.readyPid;
    const residentMiB = program.memory;
    if (pid === null || residentMiB === null) return;
    const text = await fetch(metricsUrl, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
      (response) => response.text(),
      () => '',
    );
    const heap = HEAP_USED.exec(text)?.[1];
    const heapMiB = heap === undefined ? null : Number(heap) / MIB;
    this.memory.push({ atMs: this.#recorder.nowMs(), process: name, pid, residentMiB, heapMiB });
  }
}

/** `status`: of /healthz after `ms`; null: there was no answer in time. */
export function holdHealth(
  promises: Pick<Promises, 'hold'>,
  name: string,
  status: number | null,
  ms: number,
): void {
  if (ms > ANSWER_WITHIN_MS + STARVED_MS) return;
  promises.hold('health', status === 200, () => `${name}: ${status} after ${Math.round(ms)} ms`);
}
