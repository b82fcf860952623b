/**
 * Decides what is wrong with an installation, from the facts of its store. Pure. The alerts of
 * `deploy/monitoring/rules.yaml` that read the store have the same bounds (a test compares them), and docs/runbook.md
 * says what to do.
 */
import { counted } from '../../../ground/base/counted.ts';
import type { ConversationFacts, HeldFacts, WorkFacts } from './conversation-facts.ts';
import type { JobFacts, ReviewFacts, StoreFacts } from './store-facts.ts';
import { BOUNDS, duration, type Trouble, type TroubleCode } from './trouble.ts';

// The first part: what is wrong with conversations, documents and contracts.

/** Conversations that were handed over because the service could not go on. */
const FAILURES: readonly string[] = ['failure', 'unreadable'];

/** The troubles that the facts show, the worst first. */
function conversationTroubles(facts: ConversationFacts): Trouble[] {
  const troubles: Trouble[] = [];
  const add = (code: TroubleCode, text: string) => troubles.push({ code, text });
  const { inputs, held, work, replies, uncertain, blocked, unfinished, missingFiles, notRead } = facts;
  if (inputs.oldestS > BOUNDS.inputWaitsS) {
    const waiting = `inputs of conversations wait for a turn: ${inputs.waiting}, the oldest for ${duration(inputs.oldestS)}`;
    add('inputs_late', `${waiting}: does a service or worker run, with every data key?`);
  }
  if (replies.oldestS > BOUNDS.replyWaitsS) {
    const waiting = replies.queued + replies.sending;
    add('replies_late', `replies to persons wait: ${waiting}, the oldest for ${duration(replies.oldestS)}`);
  }
  if (uncertain.oldestS > BOUNDS.replyUncertainS) {
    const text = `replies may not have arrived: ${uncertain.replies}, the oldest since ${duration(uncertain.oldestS)}`;
    add('replies_uncertain', `${text}: "reply list", then "reply retry" or "reply cancel"`);
  }
  const scans = work.filter(({ reason }) => reason === 'scanner');
  if (oldestOf(scans) > BOUNDS.scannerAwayS) {
    add(
      'scanner_away',
      `the virus scanner does not answer: ${counted(sumOf(scans), 'file waits', 'files wait')}; start it, or see CLAMD`,
    );
  }
  if (oldestOf(work) > BOUNDS.workWaitsS) add('work_late', lateText(work));
  const failed = held.filter(({ reason }) => FAILURES.includes(reason));
  if (sumOfHeld(failed) > BOUNDS.workFailed) {
    const text = `work of conversations failed for good: ${sumOfHeld(failed)}`;
    add('work_failed', `${text}; the log says why, and "conversation give-back" tries again`);
  }
  if (oldestOf(held) > BOUNDS.heldS) {
    const waiting = `conversations wait for an operator: ${sumOfHeld(held)}, the oldest for ${duration(oldestOf(held))}`;
    add('conversations_held', `${waiting}: "conversation list --held-by operator"`);
  }
  const without = blocked.reduce((sum, { applications }) => sum + applications, 0);
  if (without > BOUNDS.contractsBlocked) {
    const reasons = blocked.map(({ reason, applications }) => `${reason} ${applications}`).join(', ');
    add(
      'contracts_blocked',
      `applications get no contract: ${without} (${reasons}): mend the terms or the certificate`,
    );
  }
  if (unfinished.oldestS > BOUNDS.unfinishedS) {
    const text = `signed contracts without their final PDF: ${unfinished.contracts}`;
    add('contracts_unfinished', `${text}, the oldest for ${duration(unfinished.oldestS)}; the log says why`);
  }
  if (missingFiles > BOUNDS.missingFiles) {
    add('documents_missing', `documents whose file is gone: ${missingFiles}: put the files back from a copy`);
  }
  if (notRead > BOUNDS.notRead) {
    const text = `documents wait for an operator because nothing reads them here: ${notRead}`;
    add('documents_not_read', `${text}: let the machine isolate the reader, or see DOCUMENT_READER`);
  }
  return troubles;
}

function lateText(work: readonly WorkFacts[]): string {
  const reasons = new Map<string, number>();
  for (const { reason, waiting } of work) {
    if (reason !== 'none') reasons.set(reason, (reasons.get(reason) ?? 0) + waiting);
  }
  const why = [...reasons].map(([reason, waiting]) => `${reason} ${waiting}`).join(', ');
  const text = `work of conversations waits: ${sumOf(work)}, the oldest for ${duration(oldestOf(work))}`;
  return why === '' ? text : `${text}; tried in vain: ${why}`;
}

function oldestOf(some: readonly { readonly oldestS: number }[]): number {
  return Math.max(0, ...some.map(({ oldestS }) => oldestS));
}

function sumOf(work: readonly WorkFacts[]): number {
  return work.reduce((sum, { waiting }) => sum + waiting, 0);
}

function sumOfHeld(held: readonly HeldFacts[]): number {
  return held.reduce((sum, { conversations }) => sum + conversations, 0);
}

/** The troubles that the facts show, the worst first. */
export function troublesOf(facts: StoreFacts): Trouble[] {
  return [
    ...upkeepTroubles(facts),
    ...messageTroubles(facts),
    ...reviewTroubles(facts.review),
    ...conversationTroubles(facts.conversations),
    ...termsTroubles(facts),
    ...partnerTroubles(facts),
    ...driftTroubles(facts),
    ...keyTroubles(facts),
    ...backupTroubles(facts),
    ...forgedTroubles(facts),
  ];
}

/** Since when a trouble stands, where the facts tell it; null: they do not. */
export function knownSince({ code }: Trouble, facts: StoreFacts): Date | null {
  switch (code) {
    case 'no_upkeep': {
      const sinceS = sinceUpkeepS(facts);
      return sinceS === null ? facts.migratedAt : new Date(facts.at.getTime() - sinceS * 1000);
    }
    case 'sender_paused':
      return facts.sender.pausedAt;
    case 'channel_broken':
      return facts.sender.brokenAt;
    default:
      return null;
  }
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

/** The job that reads the terms and the certificate again (`subjects/signing/service.ts`); it runs every 15 seconds. */
const TERMS = 'read the terms again';
const TERMS_RECENT_MS = 60_000;

/** 1 if a process refused new terms within the last minute and keeps the earlier ones; else 0. */
export function termsRefused({ jobs, at }: Pick<StoreFacts, 'jobs' | 'at'>): number {
  const failedAt = jobs.find(({ job }) => job === TERMS)?.failedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  return at.getTime() - failedAt <= TERMS_RECENT_MS ? 1 : 0;
}

function termsTroubles(facts: StoreFacts): Trouble[] {
  if (termsRefused(facts) <= BOUNDS.termsRefused) return [];
  const text = 'the new terms or the new certificate are refused, and the old ones hold: the log says why';
  return [{ code: 'terms_refused', text }];
}

/**
 * The jobs that check the MACs of rows (`subjects/operators/service.ts`, `subjects/partners/service.ts`), every five
 * minutes.
 */
const CHECKS = ['check the rows of operators', 'check the rows of API keys'];
const CHECKED_RECENTLY_MS = 360_000;

/** 1 if a check of the last minutes found rows that no service has written; else 0. */
export function rowsForged({ jobs, at }: Pick<StoreFacts, 'jobs' | 'at'>): number {
  const isRecent = ({ failedAt }: JobFacts) =>
    failedAt !== null && at.getTime() - failedAt.getTime() <= CHECKED_RECENTLY_MS;
  return jobs.some((job) => CHECKS.includes(job.job) && isRecent(job)) ? 1 : 0;
}

function forgedTroubles(facts: StoreFacts): Trouble[] {
  if (rowsForged(facts) <= BOUNDS.rowsForged) return [];
  const text =
    'accounts, sessions or API keys were changed in the database without the keys of the service, and are refused: the log names them';
  return [{ code: 'rows_forged', text }];
}

/** The job of the base backups (`src/app/backup/schedule.ts`), which is not run every five minutes. */
const BASE_BACKUP = 'base backup';
/** The jobs that write to the place of backups (`src/app/background.ts`). */
const BACKUP_JOBS = [BASE_BACKUP, 'back up', 'copy erasures', 'copy files'];

/** The jobs of backups whose last run failed: the next try of a base backup comes a quarter of an hour later. */
export function failingBackups({ jobs }: Pick<StoreFacts, 'jobs'>): JobFacts[] {
  return jobs.filter(
    ({ job, succeededAt, failedAt }) =>
      BACKUP_JOBS.includes(job) && failedAt !== null && (succeededAt === null || succeededAt < failedAt),
  );
}

function backupTroubles(facts: StoreFacts): Trouble[] {
  return [...failingTroubles(facts), ...overdueTroubles(facts)];
}

function failingTroubles(facts: StoreFacts): Trouble[] {
  const failing = failingBackups(facts);
  if (failing.length <= BOUNDS.backupsFailing) return [];
  const told = [...new Set(failing.flatMap(({ failedWhy }) => failedWhy ?? []))].join('; ');
  return [{ code: 'backup_failing', text: told || 'backups fail: the log of a service says why' }];
}

function overdueTroubles({ jobs, at }: StoreFacts): Trouble[] {
  const succeededAt = jobs.find(({ job }) => job === BASE_BACKUP)?.succeededAt ?? null;
  // If no run ever succeeded, one has failed.
  if (succeededAt === null) return [];
  const sinceS = (at.getTime() - succeededAt.getTime()) / 1000;
  if (sinceS <= BOUNDS.sinceBackupS) return [];
  return [{ code: 'backup_overdue', text: `no base backup has succeeded for ${duration(sinceS)}` }];
}

function isFailing({ job, succeededAt, failedAt }: JobFacts, at: Date): boolean {
  // These have a trouble of their own.
  if (BACKUP_JOBS.includes(job) || job === TERMS || CHECKS.includes(job)) return false;
  if (succeededAt === null) return failedAt !== null;
  return at.getTime() - succeededAt.getTime() > BOUNDS.sinceJobS * 1000;
}

function messageTroubles({
  sender,
  lateS,
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
  if (undelivered > BOUNDS.undelivered && undeliveredSince !== null) {
    const since = `since ${time(undeliveredSince)}`;
    add(
      'messages_undelivered',
      `the channel accepted ${counted(undelivered, 'message')} ${since} and delivered none`,
    );
  }
  if (unsettledS > BOUNDS.unsettledS) {
    const text = `uncertain messages wait for an operator, the oldest for ${duration(unsettledS)}`;
    add('messages_uncertain', text);
  }
  return troubles;
}

function reviewTroubles(review: ReviewFacts): Trouble[] {
  const { waiting, overdue, overdueS, unclaimed, unconfirmed, unconfirmedS } = review;
  const { casesOverdue, casesOverdueS } = review;
  const troubles: Trouble[] = [];
  if (overdueS > BOUNDS.reviewOverdueS) {
    const text = `decisions of operators are overdue: ${overdue} of ${waiting}, the latest for ${duration(overdueS)}`;
    troubles.push({ code: 'reviews_overdue', text: `${text}; nobody holds ${unclaimed}` });
  }
  if (unconfirmedS > BOUNDS.unconfirmedS) {
    const text = `proposals wait for a second operator: ${unconfirmed}, the oldest for ${duration(unconfirmedS)}`;
    troubles.push({ code: 'proposals_unconfirmed', text });
  }
  if (casesOverdueS > BOUNDS.caseOverdueS) {
    const text = `cases of persons are past their term: ${casesOverdue}, the latest for ${duration(casesOverdueS)}`;
    troubles.push({ code: 'cases_overdue', text: `${text}: "reconsideration list"` });
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

/** Characteristics that the text names. */
const MOST_DRIFTED = 5;

function driftTroubles({ drift }: Pick<StoreFacts, 'drift'>): Trouble[] {
  const drifted = drift.filter(({ psi, threshold }) => psi > threshold);
  if (drifted.length === 0) return [];
  const named = drifted
    .slice(0, MOST_DRIFTED)
    .map(({ partner, characteristic, psi }) => {
      const whose = partner === null ? '' : ` of partner ${partner}`;
      return `${characteristic}${whose} (${psi.toFixed(2)})`;
    })
    .join(', ');
  const more = drifted.length > MOST_DRIFTED ? ` and ${drifted.length - MOST_DRIFTED} more` : '';
  const text = `the applications are no longer those that the live policy began with: ${named}${more}; "policy drift" compares`;
  return [{ code: 'policy_drifted', text }];
}

function keyTroubles({ keys: { sealing, share, resealLateS } }: StoreFacts): Trouble[] {
  const troubles: Trouble[] = [];
  if (sealing > BOUNDS.sealing) {
    const text = `running services seal with ${counted(sealing, 'data key')}: start the others with the new one first in DATA_KEYS`;
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
