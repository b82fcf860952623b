/** What the store of a quiet installation tells, with one partner. */
import type { ConversationFacts } from '../../src/subjects/monitoring/rules/conversation-facts.ts';
import type { ReviewFacts, StoreFacts } from '../../src/subjects/monitoring/rules/store-facts.ts';

export const AT = new Date('2026-11-23T12:00:00Z');

/** Conversations without a trouble. */
export const WELL: ConversationFacts = {
  open: [{ step: 'earnings', holder: 'service', conversations: 3 }],
  held: [],
  inputs: { waiting: 0, oldestS: 0 },
  work: [],
  replies: { queued: 0, sending: 0, oldestS: 0 },
  uncertain: { replies: 0, oldestS: 0 },
  documents: [{ state: 'accepted', documents: 2, bytes: 2_000 }],
  missingFiles: 0,
  notRead: 0,
  blocked: [],
  unfinished: { contracts: 0, oldestS: 0 },
};

/** A review queue without a trouble. */
export const QUIET: ReviewFacts = {
  ...{ waiting: 3, unclaimed: 2, overdue: 0, oldestS: 600, overdueS: 0 },
  ...{ unconfirmed: 0, unconfirmedS: 0, casesOverdue: 0, casesOverdueS: 0 },
};

/** Facts without a trouble, but for `changes`. */
export function wellFacts(changes: Partial<StoreFacts> = {}): StoreFacts {
  const counts = { registered: 5, duplicate: 1, overQuota: 0, invalid: 0, unauthorized: 0 };
  return {
    at: AT,
    serverVersion: '17.10',
    migratedAt: new Date(AT.getTime() - 86_400_000),
    messages: new Map([['delivered', 5]]),
    lateS: 0,
    later: { messages: 0, first: null, last: null },
    review: QUIET,
    conversations: WELL,
    unsettledS: 0,
    sender: { brokenAt: null, brokenReason: null, pausedAt: null, pausedReason: null, pausedTemplates: 0 },
    undelivered: 0,
    undeliveredSince: null,
    partitionsAhead: 1.5,
    sweeps: 0,
    searches: { searched: 0, refused: 0 },
    keys: { sealing: 1, share: 0.1, resealLateS: 0 },
    partners: [{ partner: '1', ...counts, used: 5, dailyCap: 10 }],
    endpoints: [],
    drift: [],
    business: [],
    medians: [],
    jobs: [
      {
        job: 'make partitions',
        succeededAt: new Date(AT.getTime() - 15_000),
        tookMs: 3,
        failedAt: null,
        failedWhy: null,
      },
    ],
    ...changes,
  };
}
