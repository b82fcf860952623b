/** What the store of a quiet installation tells, with one partner. */
import type { StoreFacts } from '../../src/monitoring/rules/store-facts.ts';

export const AT = new Date('2026-11-23T12:00:00Z');

/** Facts without a trouble, but for `changes`. */
export function wellFacts(changes: Partial<StoreFacts> = {}): StoreFacts {
  const counts = { registered: 5, duplicate: 1, overQuota: 0, invalid: 0, unauthorized: 0 };
  return {
    at: AT,
    serverVersion: '18.4',
    migratedAt: new Date(AT.getTime() - 86_400_000),
    messages: new Map([['delivered', 5]]),
    lateS: 0,
    replies: { waiting: 0, oldestS: 0 },
    contracts: { blocked: 0, reasons: null },
    unsettledS: 0,
    sender: { brokenAt: null, brokenReason: null, pausedAt: null, pausedReason: null, pausedTemplates: 0 },
    undelivered: 0,
    undeliveredSince: null,
    partitionsAhead: 1.5,
    sweeps: 0,
    keys: { sealing: 1, share: 0.1, resealLateS: 0 },
    partners: [{ partner: '1', ...counts, used: 5, dailyCap: 10 }],
    endpoints: [],
    jobs: [
      { job: 'make partitions', succeededAt: new Date(AT.getTime() - 15_000), tookMs: 3, failedAt: null },
    ],
    ...changes,
  };
}
