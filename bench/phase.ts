/** The protocol of the measuring processes: the parent sends phases, the child answers with figures. */
import { fork } from 'node:child_process';

export interface Measured {
  readonly applicationsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Runs `work` in `concurrency` lanes until the time is over. */
export async function measure(
  phase: { concurrency: number; size: number; ms: number },
  work: (lane: number) => Promise<void>,
): Promise<Measured> {
  const latencies: number[] = [];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: phase.concurrency }, async (_, lane) => {
      while (performance.now() - start < phase.ms) {
        const sent = performance.now();
        await work(lane);
        latencies.push(performance.now() - sent);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(Math.floor(latencies.length * share), latencies.length - 1)] ?? 0;
  return {
    applicationsPerSecond: (latencies.length * phase.size) / seconds,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/** In the child: answers each phase of the parent. */
export function serve<P, R = Measured>(run: (phase: P) => Promise<R>): void {
  process.on('message', (phase: P) => {
    run(phase).then(
      (measured) => process.send?.({ measured }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
}

/** In the parent: a child that runs phases one at a time. */
export function worker<P, R = Measured>(
  file: string,
): { readonly pid: number; run(phase: P): Promise<R>; stop(): void } {
  const child = fork(new URL(file, import.meta.url), { serialization: 'advanced' });
  return {
    pid: child.pid as number,
    run: (phase) =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error(`${file} ended`));
        child.once('exit', onExit);
        child.once('message', (message: { measured?: R; error?: string }) => {
          child.off('exit', onExit);
          if (message.measured !== undefined) resolve(message.measured);
          else reject(new Error(message.error));
        });
        child.send(phase as object);
      }),
    stop: () => void child.kill(),
  };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
