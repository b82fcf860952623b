/** The background work that keeps the store small and its hot paths short. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchId } from '../applications/rules/ids.ts';
import {
  fillLookUpBuckets,
  forgetPartitions,
  leavePartition,
  makePartitionsAhead,
} from '../applications/sql/partitions.ts';
import { deleteOldReceipts } from '../applications/sql/receipts.ts';
import { trimSurplus } from '../applications/sql/surplus.ts';
import { dropPushes, mendPushes } from '../events/push/sql/queue.ts';
import { forgetPartnerEvents } from '../events/sql/event-retention.ts';
import { SETTLE_AFTER_MS } from '../messages/rules/after-send.ts';
import { forgetUsers } from '../messages/sql/channel-users.ts';
import { forgetEarly } from '../messages/sql/early-events.ts';
import { foldMessageCounts } from '../messages/sql/message-counts.ts';
import { forgetLifts } from '../messages/sql/suppressions.ts';
import { findLost, forgetRecipients, forgetRejections, mendLeap } from '../messages/sql/upkeep.ts';
import { forgetKeyOutcomes } from '../partners/sql/key-outcomes.ts';
import { advanceUsage } from '../partners/sql/usage.ts';
import type { Database } from '../postgres/database.ts';
import type { Elapsed } from '../postgres/elapsed.ts';
import { markSealing } from '../seal/data-keys.ts';
import type { Vault } from '../seal/vault.ts';

/** How often the jobs run; seldom jobs run every so many turns. */
export const EVERY_MS = 15_000;
const SELDOM_TURNS = 20;
/** A job that is under way this long after the stop is left: the end of its session undoes it, and it is done again. */
const LEFT_AFTER_MS = 4_000;

interface UpkeepContext {
  readonly database: Database;
  readonly vault: Vault;
  /** The elapsed time of this process. */
  readonly elapsed: Elapsed;
  /** Applies early events whose message has a record by now: their service died between the two. */
  readonly applyEarly: () => Promise<unknown>;
  /** How many days applications are kept; null: for ever. */
  readonly retentionDays: number | null;
  /** Called with the number of applications that were deleted because of their age. */
  readonly onForgotten: (applications: number) => void;
  /** Called when a job fails; the other jobs still run, and the next turn runs it again. */
  readonly onError: (job: string, error: unknown) => void;
  /** Called with batches whose envelope still holds refused applicants and does not open. */
  readonly onUnreadable: (batchIds: readonly BatchId[]) => void;
  /** Called with old batches that are kept, because their facts do not tell whether an application is open. */
  readonly onKept: (batchIds: readonly BatchId[]) => void;
}

interface UpkeepJob {
  readonly name: string;
  readonly seldom?: true;
  readonly run: (context: UpkeepContext) => Promise<unknown>;
}

const JOBS: readonly UpkeepJob[] = [
  { name: 'advance elapsed time', run: ({ database, elapsed }) => elapsed.advance(database) },
  { name: 'mark the sealing key', run: ({ database, vault }) => markSealing(database, vault) },
  { name: 'make partitions', run: ({ database }) => makePartitionsAhead(database) },
  { name: 'leave partitions', run: ({ database }) => leavePartition(database) },
  { name: 'fill look-up buckets', run: ({ database }) => fillLookUpBuckets(database) },
  { name: 'advance usage', run: ({ database }) => advanceUsage(database) },
  { name: 'trim envelopes', run: trimEnvelopes },
  { name: 'mend times', run: ({ database }) => mendLeap(database) },
  { name: 'mend times of pushes', run: ({ database }) => mendPushes(database) },
  { name: 'find lost sends', run: ({ database }) => findLost(database, SETTLE_AFTER_MS) },
  { name: 'fold message counts', run: ({ database }) => foldMessageCounts(database) },
  { name: 'drop pushes', seldom: true, run: ({ database }) => dropPushes(database) },
  { name: 'forget old applications', seldom: true, run: forgetOld },
  { name: 'delete receipts', seldom: true, run: ({ database }) => deleteOldReceipts(database) },
  { name: 'forget recipients', seldom: true, run: ({ database }) => forgetRecipients(database) },
  { name: 'forget rejections', seldom: true, run: ({ database }) => forgetRejections(database) },
  { name: 'apply early events', seldom: true, run: ({ applyEarly }) => applyEarly() },
  { name: 'forget early events', seldom: true, run: ({ database }) => forgetEarly(database) },
  { name: 'forget persons at the channel', seldom: true, run: ({ database }) => forgetUsers(database) },
  { name: 'forget lifts', seldom: true, run: ({ database }) => forgetLifts(database) },
  { name: 'forget key outcomes', seldom: true, run: ({ database }) => forgetKeyOutcomes(database) },
  { name: 'forget partner events', seldom: true, run: ({ database }) => forgetPartnerEvents(database) },
];

async function forgetOld({ database, retentionDays, onForgotten, onKept }: UpkeepContext): Promise<void> {
  if (retentionDays === null) return;
  const applications = await forgetPartitions(database, retentionDays, onKept);
  if (applications > 0) onForgotten(applications);
}

async function trimEnvelopes({ database, vault, onUnreadable }: UpkeepContext): Promise<void> {
  const unreadable = await trimSurplus(database, vault);
  if (unreadable.length > 0) onUnreadable(unreadable);
}

/** Runs every job that is due in this turn (from 0), until `signal` aborts. A failed job does not stop the others. */
export async function upkeepTurn(context: UpkeepContext, turn: number, signal?: AbortSignal): Promise<void> {
  for (const { name, seldom, run } of JOBS) {
    if (signal?.aborted) return;
    if (seldom && turn % SELDOM_TURNS !== 0) continue;
    await run(context).catch((error: unknown) => context.onError(name, error));
  }
}

/** Starts the upkeep. Returns a function that begins no more jobs and waits for the one under way, for a few seconds. */
export function startUpkeep(context: UpkeepContext): () => Promise<void> {
  const stopping = new AbortController();
  let turn = 0;
  let running = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = upkeepTurn(context, turn++, stopping.signal).finally(() => {
      busy = false;
    });
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await Promise.race([running, sleep(LEFT_AFTER_MS, undefined, { ref: false })]);
  };
}
