/** The background work: upkeep, delivery and pushes. `serve` does it beside its requests, `worker` does nothing else. */

import type { Logger } from 'pino';
import type { ApplicationId } from '../applications/rules/ids.ts';
import { errorFields } from '../base/error-fields.ts';
import type { Channel } from '../messages/channels/channel.ts';
import { ChannelNotices } from '../messages/delivery/channel-notices.ts';
import { SendResultLog } from '../messages/delivery/send-result-log.ts';
import { ANSWER_WITHIN_MS, type MessageFault } from '../messages/delivery/take-up.ts';
import { deliverDue } from '../messages/delivery/turn.ts';
import { startWorker, type Worker } from '../messages/delivery/worker.ts';
import { applyEarly } from '../messages/intake/status-events.ts';
import type { ChannelNotice } from '../messages/sql/channel-notices.ts';
import { takeKnownEarly } from '../messages/sql/early-events.ts';
import { loadContactWindows } from '../messages/uses/load-contact-windows.ts';
import { failureLog, workFailureLog } from '../operations/failure-log.ts';
import { Elapsed } from '../postgres/elapsed.ts';
import { channelOf } from './channel.ts';
import type { Config } from './config/config.ts';
import type { Store } from './open-store.ts';
import { startPushes } from './pushes.ts';
import { startUpkeep } from './upkeep.ts';

interface Background {
  /** The channel of this process; null where the process does not deliver. */
  readonly channel: Channel | null;
  /** False where the loop of the delivery or of the pushes stands still. */
  alive(): boolean;
  /** Begins no more sends. Resolves when nothing more is sent; answers of the channel may still be missing. */
  stopSending(): Promise<void>;
  /** Stops the work and resolves when everything under way has ended. The store stays open. */
  stop(): Promise<void>;
}

/**
 * The delivery waits at most `ANSWER_WITHIN_MS` for answers before its next turn. A turn of either loop takes a few
 * seconds, also without a database.
 */
const STUCK_AFTER_MS = 2 * ANSWER_WITHIN_MS;
/** The channel allows one message to one phone in this time. */
const PAIR_MS = 6_000;
/** The most ids in one log line. */
const MAX_IDS = 20;
const UNREADABLE =
  'envelopes do not open, so refused applicants stay in them; the upkeep tries again in an hour';
const KEPT = 'these batches are kept in spite of RETENTION_DAYS: their stored data cannot be read';
const PAUSED = 'the channel refused a message: paused until an operator runs "message resume"';

/** Starts the upkeep, and with `deliver` the delivery and the pushes. Throws where the contact windows are refused. */
export async function startBackground(
  config: Config,
  store: Store,
  log: Logger,
  deliver: boolean,
): Promise<Background> {
  const { database, vault } = store;
  const channel = deliver ? channelOf(config, store, log) : null;
  const failed = workFailureLog(failureLog(log));
  const loops: Worker[] = [];
  if (channel !== null) {
    loops.push(await startDelivery(config, store, channel, { log, failed }));
    loops.push(startPushes(config, store, { log, failed }));
  }
  const stopUpkeep = startUpkeep({
    database,
    vault,
    elapsed: new Elapsed(),
    applyEarly: () => applyEarly(database, (session) => takeKnownEarly(session, null)),
    onError: (job, error) => failed(`upkeep: ${job}`, error),
    retentionDays: config.retentionDays,
    onForgotten: (applications) =>
      log.info({ applications }, 'deleted applications older than RETENTION_DAYS'),
    onUnreadable: (ids) => log.error({ batches: ids.length, batch_ids: ids.slice(0, MAX_IDS) }, UNREADABLE),
    onKept: (ids) => log.error({ batches: ids.length, batch_ids: ids.slice(0, MAX_IDS) }, KEPT),
  });
  return {
    channel,
    alive: () => loops.every((loop) => performance.now() - loop.lastTurnMs() < STUCK_AFTER_MS),
    stopSending: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
    stop: async () => {
      await Promise.all([...loops.map((loop) => loop.stop()), stopUpkeep()]);
      await Promise.all(loops.map((loop) => loop.ended));
      await channel?.close?.();
    },
  };
}

async function startDelivery(
  config: Config,
  { database, vault }: Store,
  channel: Channel,
  { log, failed }: { log: Logger; failed: (work: string, error: unknown) => void },
): Promise<Worker> {
  const { contactWindowsFile, messagesPerSecond, recipientsPerDay, messagesPerPhone, rejectionsPerPhone } =
    config;
  const windows = await loadContactWindows(contactWindowsFile, new Date());
  const tellWaiting = failureLog(log);
  const context = {
    database,
    vault,
    channel,
    windows,
    ...(channel.released && { released: channel.released }),
    limits: { messagesPerSecond, pairMs: PAIR_MS, recipientsPerDay, messagesPerPhone, rejectionsPerPhone },
    results: new SendResultLog(
      database,
      ANSWER_WITHIN_MS,
      (ids, error) =>
        log.error({ ...idsOf(ids), error: errorFields(error) }, 'send results could not be recorded'),
      (change, reason) => {
        if (change === 'mended') log.info('the channel works again: messages go out');
        else log.warn({ reason }, 'the channel fails: messages wait, and single messages go out as probes');
      },
    ),
    notices: new ChannelNotices(
      database,
      ANSWER_WITHIN_MS,
      (pause) => log.warn({ ...pause }, PAUSED),
      (notices, error) => log.error({ ...lostNotices(notices), error: errorFields(error) }, LOST_NOTICES),
    ),
    onFault: ({ reason, applicationIds, batchId, error }: MessageFault) => {
      const facts = {
        reason,
        batch_id: batchId,
        ...idsOf(applicationIds),
        error: error && errorFields(error),
      };
      // These messages come again and again.
      if (reason === 'unknown_key') tellWaiting(FAULTS[reason], facts);
      else log.error(facts, FAULTS[reason]);
    },
  };
  return startWorker(
    (cut, stopping) => deliverDue(context, cut, stopping),
    (error) => failed('a turn of the delivery', error),
  );
}

const FAULTS: Readonly<Record<MessageFault['reason'], string>> = {
  unreadable: 'messages are not sent: the envelope of their batch does not open',
  mismatch:
    'ALARM: messages are not sent: the envelope has the personal data of other applications. Somebody changed rows',
  unknown_key: 'messages wait: their data has a data key that this process does not have in DATA_KEYS',
  unsendable: 'messages are not sent: the values in their rows make the delivery fail',
};

const LOST_NOTICES =
  'pauses or opt-outs could not be stored: suppress the phones of these opt-outs; the channel repeats pauses';

/** The log names each opt-out, because the channel repeats only pauses (at the next message). */
function lostNotices(notices: readonly ChannelNotice[]) {
  const optedOut = notices.filter(({ kind }) => kind === 'opted_out');
  return {
    pauses: notices.length - optedOut.length,
    opt_outs: optedOut.length,
    application_ids: optedOut.map(({ applicationId }) => applicationId),
  };
}

function idsOf(applicationIds: readonly ApplicationId[]) {
  return { applications: applicationIds.length, application_ids: applicationIds.slice(0, MAX_IDS) };
}
