/** The pushes of partner events, as `serve` and `worker` run them (D41). */
import type { Logger } from 'pino';
import { errorFields } from '../base/error-fields.ts';
import { pushSender } from '../events/push/http/sender.ts';
import { type Pusher, startPusher } from '../events/push/pusher.ts';
import { dropPushes } from '../events/push/sql/queue.ts';
import { type EndpointChange, type PushRecord, recordPushes } from '../events/push/sql/record.ts';
import type { PushFault } from '../events/push/turn.ts';
import { failureLog } from '../operations/failure-log.ts';
import { againAfterConflict } from '../postgres/conflicts.ts';
import { RetryingWriter } from '../postgres/retrying-writer.ts';
import type { Config } from './config/config.ts';
import type { Store } from './open-store.ts';

/** An attempt that is not recorded by then is made again when its lease ends. */
const KEEP_RECORD_MS = 12_000;

const FAULTS: Readonly<Record<PushFault, string>> = {
  unreadable_event: 'an event is not pushed: its rows cannot be read',
  unreadable_endpoint: 'the endpoint of a partner is damaged: set its URL again',
  unknown_key: 'an event is not pushed yet: its data or its endpoint has a data key that is not in DATA_KEYS',
};
const CHANGES = {
  broken: 'the endpoint of a partner fails: its events wait, and single pushes go out as probes',
  mended: 'the endpoint of a partner works again: its events go out',
  disabled: 'the endpoint of a partner is disabled: nothing is pushed until an operator sets its URL again',
} as const;

/** Starts the loop. Its log names partners and codes, never a URL, an answer or a person. */
export function startPushes(
  { endpointHosts }: Config,
  { database, vault }: Store,
  { log, failed }: { log: Logger; failed: (work: string, error: unknown) => void },
): Pusher {
  const sender = pushSender({ hosts: endpointHosts });
  const logFault = failureLog(log);
  const tell = ({ partnerId, change, reason, givenUp }: EndpointChange) => {
    if (change !== null) {
      const level = change === 'mended' ? 'info' : 'warn';
      log[level]({ partner_id: partnerId, ...(change !== 'mended' && { reason }) }, CHANGES[change]);
    }
    if (givenUp > 0) {
      const facts = { partner_id: partnerId, pushes: givenUp };
      log.warn(facts, 'pushes were given up after three days: their events stay in the feed');
    }
  };
  const records = new RetryingWriter<PushRecord>(KEEP_RECORD_MS, {
    store: async (some) => {
      const changes = await againAfterConflict(() => recordPushes(database, some));
      for (const change of changes) {
        tell(change);
        // Where this fails, the upkeep drops the pushes that are left.
        if (change.change === 'disabled') await dropPushes(database, change.partnerId).catch(() => {});
      }
    },
    onLost: (some, error) =>
      log.error(
        { pushes: some.length, error: errorFields(error) },
        'the results of pushes could not be recorded: these events are pushed again',
      ),
  });
  const pusher = startPusher(
    {
      database,
      vault,
      sender,
      record: (record) => records.write(record),
      onFault: (fault, { partnerId, number }) => logFault(FAULTS[fault], { partner_id: partnerId, number }),
    },
    (error) => failed('a turn of the pushes', error),
  );
  void pusher.ended.then(() => sender.close());
  return pusher;
}
