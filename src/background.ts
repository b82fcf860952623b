/** The work that nobody waits for: upkeep and delivery, in `serve` and alone in `worker`. */
import type { Logger } from 'pino';
import type { Channel } from './channel/channel.ts';
import { logChannel } from './channel/log.ts';
import { Simulator } from './channel/simulator.ts';
import { whatsappChannel } from './channel/whatsapp.ts';
import type { Config } from './config.ts';
import { startWorker } from './delivery/worker.ts';
import type { Store } from './store.ts';
import { AttemptLog } from './usecases/attempt-log.ts';
import { applyChannelEvents } from './usecases/channel-events.ts';
import { ANSWER_WITHIN_MS, deliverDue } from './usecases/deliver.ts';
import { loadContactWindows } from './usecases/load-contact-windows.ts';
import { startUpkeep } from './usecases/upkeep.ts';

export interface Background {
  /** The simulator of this process; null with another channel, or where this process does not deliver. */
  readonly simulator: Simulator | null;
  /** Lets what is under way end. The store stays open. */
  stop(): Promise<void>;
}

/** The channel allows one message in so long to one phone. */
const PAIR_MS = 6_000;

/** Starts the upkeep, and the delivery where `deliver` says so; throws where the contact windows are refused. */
export async function startBackground(
  config: Config,
  store: Store,
  log: Logger,
  deliver: boolean,
): Promise<Background> {
  const { database, vault } = store;
  const failed = (what: string) => (error: unknown) => log.warn({ code: codeOf(error) }, `${what} failed`);
  const simulator =
    deliver && config.channel === 'simulator'
      ? new Simulator((events) => applyChannelEvents({ database, vault }, events).then(() => {}))
      : null;
  const stopDelivery = deliver
    ? await startDelivery(config, store, simulator ?? outwardChannel(config, log), log, failed('delivery'))
    : async () => {};
  const stopUpkeep = startUpkeep(database, vault, failed('upkeep'));
  return {
    simulator,
    stop: async () => {
      await Promise.all([stopDelivery(), stopUpkeep()]);
      await simulator?.close();
    },
  };
}

function outwardChannel(config: Config, log: Logger): Channel {
  return config.whatsapp === null ? logChannel(log) : whatsappChannel(config.whatsapp);
}

async function startDelivery(
  config: Config,
  { database, vault }: Store,
  channel: Channel,
  log: Logger,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const { contactWindowsFile, messagesPerSecond, recipientsPerDay } = config;
  const windows = await loadContactWindows(contactWindowsFile, new Date());
  const context = {
    database,
    vault,
    channel,
    windows,
    limits: { messagesPerSecond, recipientsPerDay, pairMs: PAIR_MS },
    attempts: new AttemptLog(database, ANSWER_WITHIN_MS),
    onPause: (what: string, reason: string) =>
      log.warn({ what, reason }, 'the channel refused: paused until "message resume"'),
  };
  return startWorker((signal) => deliverDue(context, signal), onError);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
