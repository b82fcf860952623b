/**
 * What `serve` and `worker` run for applications beside the way of a batch (`app/serve.ts`): jobs of the upkeep
 * (docs/upkeep.md).
 */
import type { BatchId } from '../../domain/application/ids.ts';
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { retentionOf } from './settings.ts';
import { eraseCorrections } from './sql/corrections.ts';
import { fillLookUpBuckets, leavePartition, makePartitionsAhead } from './sql/partitions.ts';
import { forgetBy } from './sql/retention.ts';
import { trimSurplus } from './sql/surplus.ts';
import { following } from './uses/followers.ts';

/** The most ids in one log line. */
const MAX_IDS = 20;
const UNREADABLE =
  'envelopes do not open, so refused applicants stay in them; the upkeep tries again in an hour';
const KEPT = 'these batches are kept in spite of the retention: their stored data cannot be read';

/** The jobs of one process. One job remembers where it goes on. */
export const applicationsService = (): Service => ({
  upkeep: [
    { name: 'make partitions', run: ({ database }) => makePartitionsAhead(database) },
    { name: 'leave partitions', run: ({ database }) => leavePartition(database) },
    { name: 'fill look-up buckets', run: ({ database }) => fillLookUpBuckets(database) },
    { name: 'trim envelopes', run: trimEnvelopes },
    { name: 'forget old applications', seldom: true, run: forgetOld },
    {
      name: 'forget corrections',
      seldom: true,
      run: following([{ table: 'corrections', orErased: true, forget: eraseCorrections }]),
    },
  ],
});

async function trimEnvelopes({ database, vault, clock, log }: ServiceContext): Promise<void> {
  const unreadable = await trimSurplus(database, vault, clock);
  if (unreadable.length > 0) log.error(idsOf(unreadable), UNREADABLE);
}

async function forgetOld({ database, clock, log, setting }: ServiceContext): Promise<void> {
  const retention = retentionOf(setting);
  if (retention === null) return;
  const applications = await forgetBy(database, clock, retention, (kept) => log.error(idsOf(kept), KEPT));
  if (applications > 0) log.info({ applications }, 'deleted old applications');
}

function idsOf(batchIds: readonly BatchId[]) {
  return { batches: batchIds.length, batch_ids: batchIds.slice(0, MAX_IDS) };
}
