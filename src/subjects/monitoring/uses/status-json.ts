/**
 * The status as JSON, for `ventanilla status --json` and for `GET /api/health` (docs/monitoring.md, "ventanilla
 * status"). No personal data.
 */
import { named } from '../../../ground/base/named.ts';
import { version } from '../../../ground/base/version.ts';
import type { ConversationFacts } from '../rules/conversation-facts.ts';
import type { Status } from './status.ts';

/** The members and their order; without facts only the first four. */
export function statusJson({ troubles, facts, place }: Status) {
  const base = { ok: troubles.length === 0, troubles, version: version(), store: place };
  if (facts === null) return base;
  const { oldestS, overdueS, unconfirmed, unconfirmedS, casesOverdue, casesOverdueS, ...counts } =
    facts.review;
  const isoTime = (time: Date) => time.toISOString();
  return {
    ...base,
    at: facts.at,
    postgresql: facts.serverVersion,
    upkeep: named(facts.jobs, 'job succeeded_at took_ms failed_at failed_why', isoTime),
    partitions_ahead: facts.partitionsAhead,
    messages: Object.fromEntries(facts.messages),
    messages_later: facts.later,
    oldest_due_seconds: facts.lateS,
    reviews: {
      ...counts,
      oldest_seconds: oldestS,
      overdue_seconds: overdueS,
      unconfirmed,
      unconfirmed_oldest_seconds: unconfirmedS,
    },
    cases: { overdue: casesOverdue, overdue_seconds: casesOverdueS },
    ...conversationsJson(facts.conversations),
    oldest_uncertain_seconds: facts.unsettledS,
    undelivered: facts.undelivered,
    sender: named(facts.sender, 'broken_at broken_reason paused_at paused_reason paused_templates', isoTime),
    endpoints: facts.endpoints.map(({ status, endpoints, behind, oldestS }) => ({
      status,
      endpoints,
      events_behind: behind,
      oldest_seconds: oldestS,
    })),
    refusal_sweeps: facts.sweeps,
    policy_drift: facts.drift,
    data_keys: {
      sealing: facts.keys.sealing,
      share: facts.keys.share,
      reseal_late_seconds: facts.keys.resealLateS,
    },
  };
}

function conversationsJson(facts: ConversationFacts) {
  const {
    open,
    held,
    inputs,
    work,
    replies,
    uncertain,
    documents,
    missingFiles,
    notRead,
    blocked,
    unfinished,
  } = facts;
  const aged = <T extends { readonly oldestS: number }>({ oldestS, ...rest }: T) => ({
    ...rest,
    oldest_seconds: oldestS,
  });
  return {
    conversations: { open, held: held.map(aged), inputs: aged(inputs), work: work.map(aged) },
    replies: { ...aged(replies), uncertain: aged(uncertain) },
    documents: { states: documents, missing_files: missingFiles, not_read: notRead },
    contracts: { blocked, unfinished: aged(unfinished) },
  };
}
