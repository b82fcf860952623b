/** What `serve` and `worker` run of the pushes (D41). */
import { errorFields } from '../../../ground/base/error-fields.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import { RetryingWriter } from '../../../ground/postgres/retrying-writer.ts';
import { failureLog } from '../../../program/operations/failure-log.ts';
import type { Loop, Service, ServiceContext } from '../../../program/subject/subject.ts';
import { pushSender } from './http/sender.ts';
import { PUSH_WEBHOOKS } from './openapi.ts';
import { startPusher } from './pusher.ts';
import { ENDPOINT_HOSTS } from './rules/endpoint-hosts.ts';
import { dropPushes, mendPushes } from './sql/queue.ts';
import { type EndpointChange, type PushRecord, recordPushes } from './sql/record.ts';
import type { PushFault } from './turn.ts';

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

export const PUSH_SERVICE: Service = {
  upkeep: [
    { name: 'mend times of pushes', run: ({ database }) => mendPushes(database) },
    { name: 'drop pushes', seldom: true, run: ({ database }) => dropPushes(database) },
  ],
  loops: [startPushes],
  webhooks: PUSH_WEBHOOKS,
};

/** Starts the loop. Its log names partners and codes, never a URL, an answer or a person. */
function startPushes({ database, vault, clock, log, failed, setting, watcher }: ServiceContext): Loop {
  const sender = pushSender({ hosts: setting(ENDPOINT_HOSTS), clock });
  const logFault = failureLog(log, clock);
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
    clock,
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
      clock,
      sender,
      record: (record) => {
        watcher.pushed(record.result);
        return records.write(record);
      },
      onFault: (fault, { partnerId, number }) => logFault(FAULTS[fault], { partner_id: partnerId, number }),
    },
    (error) => failed('a turn of the pushes', error),
  );
  void pusher.ended.then(() => sender.close());
  return pusher;
}
