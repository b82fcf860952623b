/**
 * Runs the background work of a process: the upkeep, and the loops of the subjects, which send. `serve` does it beside
 * its requests, `worker` does nothing else. Touches what the jobs and loops touch. docs/upkeep.md ("Jobs") and
 * ARCHITECTURE, "Upkeep", have the rule.
 */
import type { Channel } from '../domain/message/channel.ts';
import type { Clock } from '../ground/base/clock.ts';
import { toldBy } from '../ground/base/told-error.ts';
import { Elapsed } from '../ground/postgres/elapsed.ts';
import type { Loop, ServiceContext, UpkeepJob } from '../program/subject/subject.ts';
import type { JobEnd, Watcher } from '../program/subject/watcher.ts';
import { ANSWER_WITHIN_MS } from '../subjects/messages/delivery/sending.ts';
import { backupSchedule, erasureCopies, fileCopies } from './backup/schedule.ts';
import { type ChannelPage, openChannel } from './channel.ts';
import type { Config } from './config/config.ts';
import { loadHearing } from './hearing.ts';
import type { Store } from './open-store.ts';
import { loadServices, loadTableJobs } from './subjects.ts';

// The upkeep keeps the store small and its hot paths short: it runs the jobs of all subjects, one after the other.

/** How often the jobs run, and after how many turns the rare jobs run. */
export const EVERY_MS = 15_000;
const SELDOM_TURNS = 20;
/**
 * A job that is still under way this long after the stop is left alone. The end of its session undoes it, and another
 * turn does it again.
 */
const LEFT_AFTER_MS = 4_000;

/**
 * The jobs of this process: first those without a subject, then those of the subjects in their order, then those of all
 * tables.
 */
export async function loadJobs(clock: Clock): Promise<UpkeepJob[]> {
  const elapsed = new Elapsed(clock);
  return [
    { name: 'advance elapsed time', run: ({ database }) => elapsed.advance(database) },
    ...(await loadServices()).flatMap(({ upkeep = [] }) => upkeep),
    ...(await loadTableJobs()),
  ];
}

/** Runs every job that is due in this turn (from 0), until `signal` aborts. A failed job does not stop the others. */
export async function upkeepTurn(
  jobs: readonly UpkeepJob[],
  context: ServiceContext,
  turn: number,
  signal?: AbortSignal,
): Promise<void> {
  const ends: JobEnd[] = [];
  for (const { name, seldom, run } of jobs) {
    if (signal?.aborted) return;
    if (seldom && turn % SELDOM_TURNS !== 0) continue;
    const begunMs = context.clock.monotonicMs();
    const end = await run(context).then(
      () => ({ succeeded: true, why: null }),
      (error: unknown) => {
        context.failed(`upkeep: ${name}`, error);
        return { succeeded: false, why: toldBy(error) };
      },
    );
    ends.push({ name, tookMs: context.clock.monotonicMs() - begunMs, ...end });
  }
  await context.watcher
    .kept(ends)
    .catch((error: unknown) => context.failed('the notes of the upkeep', error));
}

/**
 * Starts the upkeep. Returns a function that begins no more jobs and waits for the one under way, for a few seconds.
 */
export function startUpkeep(jobs: readonly UpkeepJob[], context: ServiceContext): () => Promise<void> {
  const stopping = new AbortController();
  let turn = 0;
  let running = Promise.resolve();
  let busy = false;
  const { clock } = context;
  const timer = clock.every(EVERY_MS, () => {
    if (busy) return;
    busy = true;
    running = upkeepTurn(jobs, context, turn++, stopping.signal).finally(() => {
      busy = false;
    });
  });
  return async () => {
    timer.cancel();
    stopping.abort();
    await Promise.race([running, clock.sleep(LEFT_AFTER_MS, { ref: false })]);
  };
}

interface Background {
  /** The page of the channel; null if this process does not deliver, or its channel has no page. */
  readonly page: ChannelPage | null;
  /** False if a loop stands still. */
  alive(): boolean;
  /** Begins no more sends. Resolves when nothing more is sent; answers of the channel may still be missing. */
  stopSending(): Promise<void>;
  /** Stops the work and resolves when everything under way has ended. The store stays open. */
  stop(): Promise<void>;
}

/**
 * The delivery waits at most `ANSWER_WITHIN_MS` for answers before its next turn. A turn of any loop takes a few
 * seconds, also without a database.
 */
const STUCK_AFTER_MS = 2 * ANSWER_WITHIN_MS;

/** Starts the upkeep, and with `deliver` the loops. Throws the error of a loop that does not start. */
export async function startBackground(
  config: Config,
  store: Store,
  { log, failed, watcher }: Pick<ServiceContext, 'log' | 'failed' | 'watcher'>,
  deliver: boolean,
): Promise<Background> {
  const { database, vault, clock } = store;
  const { setting } = config;
  const hear = await loadHearing({ database, vault, clock, log, setting });
  const open = deliver ? openChannel(config, store, log, { watcher, hear }) : null;
  const stopping = new AbortController();
  const context = {
    database,
    vault,
    clock,
    log,
    failed,
    setting,
    watcher,
    stopping: stopping.signal,
  };
  const loops: Loop[] = [];
  const stopSending = () => Promise.all(loops.map((loop) => loop.stop()));
  const endLoops = async () => {
    await stopSending();
    await Promise.all(loops.map((loop) => loop.ended));
    await open?.channel.close?.();
  };
  if (open !== null) {
    const starts = (await loadServices()).flatMap(({ loops = [] }) => loops);
    try {
      const { openSending } = await import('../subjects/documents/open.ts');
      const channel = watched(open.channel, openSending(setting, clock, open.channel), watcher);
      for (const start of starts) loops.push(await start({ ...context, channel }));
    } catch (error) {
      await endLoops();
      throw error;
    }
  }
  const files = await fileCopies(config, clock);
  const onBackup = async (backup: string) => files?.forget(context, backup);
  const backups = await backupSchedule(config, context, onBackup).catch(async (error: unknown) => {
    await endLoops();
    throw error;
  });
  const erasures = await erasureCopies(config, clock);
  const backUp: UpkeepJob[] =
    backups === null || erasures === null || files === null
      ? []
      : [
          { name: 'back up', run: () => backups.turn() },
          { name: 'copy erasures', run: () => erasures.turn(context) },
          { name: 'copy files', run: () => files.turn(context) },
        ];
  const stopUpkeep = startUpkeep([...(await loadJobs(clock)), ...backUp], context);
  return {
    page: open?.page ?? null,
    alive: () => loops.every((loop) => clock.monotonicMs() - loop.lastTurnMs() < STUCK_AFTER_MS),
    stopSending: async () => {
      await stopSending();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([stopUpkeep(), endLoops(), backups?.stop(), files?.stop()]);
    },
  };
}

/** The channel, which sends replies by `sendReply`, and also reports its answers to the watcher. */
function watched(channel: Channel, sendReply: Channel['sendReply'], watcher: Watcher): Channel {
  return {
    ...(channel.released && { released: channel.released }),
    ...(channel.codeWay && { codeWay: channel.codeWay }),
    ...(channel.sendCode && { sendCode: channel.sendCode.bind(channel) }),
    send: async (message, signal) => {
      const result = await channel.send(message, signal);
      watcher.sent(result.kind);
      return result;
    },
    sendReply: async (reply, signal) => {
      const result = await sendReply(reply, signal);
      watcher.replied(result.kind);
      return result;
    },
    markRead: (id, signal) => channel.markRead(id, signal),
    fetchMedia: (id, limits, signal) => channel.fetchMedia(id, limits, signal),
    uploadMedia: (file, signal) => channel.uploadMedia(file, signal),
  };
}
