/** A service that delivers to the log without a limit, but only while a phase asks for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** A worker that finds nothing looks again after half a second. */
const AWAKE_MS = 600;
const ACCEPTED =
  "SELECT coalesce(sum(count), 0)::integer AS count FROM message_counts WHERE status = 'accepted'";

export interface Delivering {
  readonly service: ServiceProcess;
  /** Delivers while `work` runs. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; messagesPerSecond: number }>;
  /** Only delivers, for so many milliseconds. Resolves to messages a second. */
  alone(ms: number): Promise<number>;
}

/** `environment` adds variables to those of the service. */
export async function startDelivering(environment: Record<string, string> = {}): Promise<Delivering> {
  const service = await startServiceProcess({
    DELIVERY: 'on',
    CHANNEL: 'log',
    MESSAGES_PER_SECOND: 'none',
    // The applicants' country has contact windows. These are checked too, but open at any hour of a run.
    CONTACT_WINDOWS_FILE: fileURLToPath(new URL('./always-open.json', import.meta.url)),
    ...environment,
  });
  const setPaused = (isPaused: boolean) =>
    service.admin.query('UPDATE sender SET paused_at = CASE WHEN $1 THEN now() END', [isPaused]);
  const accepted = async () => (await service.admin.query(ACCEPTED)).rows[0].count as number;
  const counted = async <T>(work: () => Promise<T>) => {
    const before = await accepted();
    const start = performance.now();
    const result = await work();
    const seconds = (performance.now() - start) / 1000;
    return { result, messagesPerSecond: ((await accepted()) - before) / seconds };
  };
  await setPaused(true);
  return {
    service,
    async during(work) {
      await setPaused(false);
      const done = await counted(work);
      await setPaused(true);
      return done;
    },
    async alone(ms) {
      await setPaused(false);
      await sleep(AWAKE_MS);
      const { messagesPerSecond } = await counted(() => sleep(ms));
      await setPaused(true);
      return messagesPerSecond;
    },
  };
}
