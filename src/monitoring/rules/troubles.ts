/**
 * What is wrong with an installation, by what its store tells. The alerts of `deploy/monitoring/rules.yaml` that read
 * the store have the same bounds (a test compares them), and docs/runbook.md says what to do.
 */
import type { JobFacts, StoreFacts } from './store-facts.ts';

/** A trouble. `code` is the name of its section in docs/runbook.md. */
export interface Trouble {
  readonly code: TroubleCode;
  readonly text: string;
}

export const TROUBLE_CODES = [
  ...(['database_unreachable', 'schema_unfit', 'schema_pending', 'no_upkeep', 'upkeep_failing'] as const),
  ...(['partitions_short', 'sender_paused', 'channel_broken', 'templates_paused'] as const),
  ...(['messages_late', 'replies_late', 'messages_undelivered', 'messages_uncertain'] as const),
  ...(['contracts_blocked'] as const),
  ...(['endpoints_disabled', 'endpoints_broken', 'pushes_late', 'refusal_sweep'] as const),
  ...(['keys_differ', 'seals_near_bound', 'reseal_stuck', 'backup_overdue'] as const),
] as const;
type TroubleCode = (typeof TROUBLE_CODES)[number];

/** Where a number is above its bound (of partitions: below), something is wrong. Times are in seconds. */
export const BOUNDS = {
  /** Jobs run every 15 seconds, or every five minutes. */
  sinceUpkeepS: 120,
  sinceJobS: 1_200,
  /** A base backup is made once a day. */
  sinceBackupS: 93_600,
  /** The upkeep keeps it above 1, but for a moment after it has left a partition. */
  partitionsAhead: 0.9,
  lateS: 900,
  /** A person waits for it. */
  replyWaitsS: 120,
  contractsBlocked: 0,
  undelivered: 20,
  /** An operator may settle such a message. */
  unsettledS: 3_600,
  pushWaitsS: 3_600,
  sealing: 1,
  /** Of the seals that one data key is good for. */
  share: 0.8,
  /** A step of a reseal is due again half a minute after its process died. */
  resealLateS: 300,
} as const;

/** The troubles that the facts show, the worst first. */
export function troublesOf(facts: StoreFacts): Trouble[] {
  return [
    ...upkeepTroubles(facts),
    ...messageTroubles(facts),
    ...contractTroubles(facts),
    ...partnerTroubles(facts),
    ...keyTroubles(facts),
    ...backupTroubles(facts),
  ];
}

/** How long ago the upkeep last did something, in seconds; null: never. */
export function sinceUpkeepS({ at, jobs }: Pick<StoreFacts, 'at' | 'jobs'>): number | null {
  const last = Math.max(...jobs.map(({ succeededAt }) => succeededAt?.getTime() ?? Number.NEGATIVE_INFINITY));
  return Number.isFinite(last) ? Math.max((at.getTime() - last) / 1000, 0) : null;
}

function upkeepTroubles(facts: StoreFacts): Trouble[] {
  const { at, jobs, migratedAt, partitionsAhead } = facts;
  const sinceS = sinceUpkeepS(facts);
  const short: Trouble[] =
    partitionsAhead < BOUNDS.partitionsAhead
      ? [{ code: 'partitions_short', text: 'no whole partition of batches is made ahead of registration' }]
      : [];
  if (sinceS === null) {
    // A service does its first upkeep a few seconds after its start.
    if (at.getTime() - migratedAt.getTime() <= BOUNDS.sinceUpkeepS * 1000) return short;
    return [{ code: 'no_upkeep', text: 'no service and no worker has done the upkeep of this database yet' }];
  }
  if (sinceS > BOUNDS.sinceUpkeepS) {
    const text = `no service and no worker has done the upkeep for ${duration(sinceS)}: does one run?`;
    return [{ code: 'no_upkeep', text }, ...short];
  }
  const failing = jobs.filter((job) => isFailing(job, at));
  if (failing.length === 0) return short;
  const names = failing.map(({ job }) => `"${job}"`).join(', ');
  const text = `these jobs of the upkeep have not succeeded for ${duration(BOUNDS.sinceJobS)}: ${names}`;
  return [{ code: 'upkeep_failing', text }, ...short];
}

/** The job of the base backups (`src/app/backup/schedule.ts`), which is not run every five minutes. */
const BASE_BACKUP = 'base backup';

function backupTroubles({ jobs, at }: StoreFacts): Trouble[] {
  const base = jobs.find(({ job }) => job === BASE_BACKUP);
  if (base === undefined) return [];
  const { succeededAt } = base;
  if (succeededAt === null) {
    return [
      { code: 'backup_overdue', text: 'no base backup has succeeded yet: the log of a service says why' },
    ];
  }
  const sinceS = (at.getTime() - succeededAt.getTime()) / 1000;
  if (sinceS <= BOUNDS.sinceBackupS) return [];
  const text = `no base backup has succeeded for ${duration(sinceS)}: the log of a service says why`;
  return [{ code: 'backup_overdue', text }];
}

function isFailing({ job, succeededAt, failedAt }: JobFacts, at: Date): boolean {
  if (job === BASE_BACKUP) return false;
  if (succeededAt === null) return failedAt !== null;
  return at.getTime() - succeededAt.getTime() > BOUNDS.sinceJobS * 1000;
}

function contractTroubles({ contracts }: StoreFacts): Trouble[] {
  const { blocked, reasons } = contracts;
  if (blocked <= BOUNDS.contractsBlocked) return [];
  return [{ code: 'contracts_blocked', text: `applications get no contract: ${blocked} (${reasons})` }];
}

function messageTroubles({
  sender,
  lateS,
  replies,
  unsettledS,
  undelivered,
  undeliveredSince,
}: StoreFacts): Trouble[] {
  const troubles: Trouble[] = [];
  const add = (code: TroubleCode, text: string) => troubles.push({ code, text });
  if (sender.pausedAt !== null) {
    add(
      'sender_paused',
      `all messages are paused since ${time(sender.pausedAt)} (${sender.pausedReason}): "message resume" ends it`,
    );
  }
  if (sender.brokenAt !== null) {
    const since = `since ${time(sender.brokenAt)} (${sender.brokenReason})`;
    add('channel_broken', `the channel fails ${since}: messages wait, and single ones go out as probes`);
  }
  if (sender.pausedTemplates > 0) {
    add('templates_paused', `paused templates: ${sender.pausedTemplates}; "message resume" ends it`);
  }
  if (lateS > BOUNDS.lateS)
    add('messages_late', `the oldest message that is due waits for ${duration(lateS)}`);
  if (replies.oldestS > BOUNDS.replyWaitsS) {
    const text = `replies to persons wait: ${replies.waiting}, the oldest for ${duration(replies.oldestS)}`;
    add('replies_late', text);
  }
  if (undelivered > BOUNDS.undelivered && undeliveredSince !== null) {
    const since = `since ${time(undeliveredSince)}`;
    add('messages_undelivered', `the channel accepted ${undelivered} messages ${since} and delivered none`);
  }
  if (unsettledS > BOUNDS.unsettledS) {
    const text = `uncertain messages wait for an operator, the oldest for ${duration(unsettledS)}`;
    add('messages_uncertain', text);
  }
  return troubles;
}

function partnerTroubles({ endpoints, sweeps }: StoreFacts): Trouble[] {
  const troubles: Trouble[] = [];
  const of = (status: string) => endpoints.find((one) => one.status === status);
  const disabled = of('disabled')?.endpoints ?? 0;
  if (disabled > 0) {
    const text = `dead endpoints of partners, whose events are not pushed any more: ${disabled}`;
    troubles.push({ code: 'endpoints_disabled', text });
  }
  const broken = of('broken');
  if (broken !== undefined && broken.oldestS > BOUNDS.pushWaitsS) {
    const text = `endpoints of partners that fail: ${broken.endpoints}, events wait for ${duration(broken.oldestS)}`;
    troubles.push({ code: 'endpoints_broken', text });
  }
  const enabled = of('enabled')?.oldestS ?? 0;
  if (enabled > BOUNDS.pushWaitsS) {
    const text = `events wait for their push to an enabled endpoint for ${duration(enabled)}`;
    troubles.push({ code: 'pushes_late', text });
  }
  if (sweeps > 0) {
    const text = `keys whose refusals look like a sweep of phones: ${sweeps}; "key refusals" shows them`;
    troubles.push({ code: 'refusal_sweep', text });
  }
  return troubles;
}

function keyTroubles({ keys: { sealing, share, resealLateS } }: StoreFacts): Trouble[] {
  const troubles: Trouble[] = [];
  if (sealing > BOUNDS.sealing) {
    const text = `running services seal with ${sealing} data keys: start the others with the new one first in DATA_KEYS`;
    troubles.push({ code: 'keys_differ', text });
  }
  if (share > BOUNDS.share) {
    const text = `a data key has sealed ${Math.floor(share * 100)} % of what it is good for: put a new key first in DATA_KEYS`;
    troubles.push({ code: 'seals_near_bound', text });
  }
  if (resealLateS > BOUNDS.resealLateS) {
    const text = `a reseal stands still for ${duration(resealLateS)}: "vault status" shows it`;
    troubles.push({ code: 'reseal_stuck', text });
  }
  return troubles;
}

function time(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** A time in seconds for people, in its largest unit. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}
