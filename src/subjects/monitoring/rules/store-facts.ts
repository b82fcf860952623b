/**
 * The facts that the store has about a running installation: the source of its metrics and of `status`. Types alone.
 * docs/monitoring.md has the rule.
 */
import type { ConversationFacts } from './conversation-facts.ts';

/** A partner, or all partners without a series of their own, as the label `other`. Numbers are since the beginning. */
export interface PartnerFacts {
  /** The partner's id, or `other`. */
  readonly partner: string;
  readonly registered: number;
  readonly duplicate: number;
  readonly overQuota: number;
  readonly invalid: number;
  /** Requests with a dead key, or with a key of the other environment. */
  readonly unauthorized: number;
  /** Applications of the last 24 hours. The upkeep may subtract old ones up to 15 s late. */
  readonly used: number;
  /** The smallest cap of the live keys; null: no key has one. For `other` it is always null. */
  readonly dailyCap: number | null;
}

export const ENDPOINT_STATUSES = ['enabled', 'broken', 'disabled'] as const;

/** The endpoints of one status. `disabled` counts only those that no operator disabled. */
export interface EndpointFacts {
  readonly status: (typeof ENDPOINT_STATUSES)[number];
  readonly endpoints: number;
  /** The events from the oldest waiting one to the newest one: at least as many as wait. */
  readonly behind: number;
  /** How long the oldest event waits, in seconds. */
  readonly oldestS: number;
}

/** A job of the upkeep, over all processes. */
export interface JobFacts {
  readonly job: string;
  /** null: never. */
  readonly succeededAt: Date | null;
  readonly tookMs: number;
  readonly failedAt: Date | null;
  /** The reason of the last failure; null: only the log says why. */
  readonly failedWhy: string | null;
}

/** The troubles of the sender, which stop all messages. */
interface SenderFacts {
  /** Since when only probes go out, because the channel fails; null: the channel works. */
  readonly brokenAt: Date | null;
  readonly brokenReason: string | null;
  /** Since when an operator is needed; null: the sender is not paused. */
  readonly pausedAt: Date | null;
  readonly pausedReason: string | null;
  readonly pausedTemplates: number;
}

/** The data keys and a reseal. */
interface KeyFacts {
  /** Data keys that running services seal with: two while a key is replaced. */
  readonly sealing: number;
  /** How much of its bound the most used of them has sealed, from 0 on. */
  readonly share: number;
  /** For how long a step of a reseal under way has been due, in seconds; 0 without a reseal. */
  readonly resealLateS: number;
}

/** Whether the applications of a characteristic have drifted from those that the live policy began with. */
export interface DriftFacts {
  /** The partner's id; null: of all partners. */
  readonly partner: string | null;
  readonly characteristic: string;
  /** The population stability index, and what it has to pass for a drift. */
  readonly psi: number;
  readonly threshold: number;
}

/** How often something became of a partner's applications: a decision, a signature and the like. */
export interface BusinessFacts {
  /** The partner's id, or `other`. */
  readonly partner: string;
  readonly event: string;
  readonly times: number;
}

/** The median time to a step of the business over the last seven whole days. */
export interface MedianFacts {
  readonly step: string;
  /** Known to a tenth. */
  readonly seconds: number;
}

/** Counts below this one are exact; this one means so many or more. */
export const MOST_LATER = 50_000;

/** Queued messages whose time has not come. */
export interface LaterFacts {
  /** Up to `MOST_LATER`. */
  readonly messages: number;
  /** The times for which they wait; null: none does. */
  readonly first: Date | null;
  readonly last: Date | null;
}

/** What waits for reviewers, and for the second one. Ages are in seconds. */
export interface ReviewFacts {
  readonly waiting: number;
  /** Those of the waiting ones that no operator has claimed. */
  readonly unclaimed: number;
  /** Those of the waiting ones whose decision is overdue. At most 2,000 of the present hour count. */
  readonly overdue: number;
  /** The time since the registration of the oldest one. */
  readonly oldestS: number;
  /** The time since the decision on the most overdue one was due; 0: none is overdue. */
  readonly overdueS: number;
  /** Proposals that wait for a second operator, up to 2,000, and since when the oldest does. */
  readonly unconfirmed: number;
  readonly unconfirmedS: number;
  /** Open cases of persons past their term, up to 2,000, and the time since the end of the first one's. */
  readonly casesOverdue: number;
  readonly casesOverdueS: number;
}

export interface StoreFacts {
  /** The database's clock. */
  readonly at: Date;
  readonly serverVersion: string;
  /** When the last migration was applied. */
  readonly migratedAt: Date;
  /** Messages by status. */
  readonly messages: ReadonlyMap<string, number>;
  /** How long the oldest message that may go out has waited, in seconds; 0: none waits. */
  readonly lateS: number;
  readonly later: LaterFacts;
  readonly review: ReviewFacts;
  readonly conversations: ConversationFacts;
  /** How long the oldest uncertain message waits for an operator, in seconds; 0: none does. */
  readonly unsettledS: number;
  readonly sender: SenderFacts;
  /** Messages that the channel accepted since `undeliveredSince`, while it delivered none. */
  readonly undelivered: number;
  /** null: no hour is counted yet. */
  readonly undeliveredSince: Date | null;
  /** Partitions of batch numbers that are made and not used up. */
  readonly partitionsAhead: number;
  /** Keys whose refusals of this hour or the one before look like a sweep of phones. */
  readonly sweeps: number;
  /** Searches of operators, and those that were too many within a minute. */
  readonly searches: { readonly searched: number; readonly refused: number };
  readonly keys: KeyFacts;
  /** By id; `other` is the last. */
  readonly partners: readonly PartnerFacts[];
  readonly endpoints: readonly EndpointFacts[];
  /** Of all partners first. Empty where too few applied. */
  readonly drift: readonly DriftFacts[];
  /** Without what has not happened yet. */
  readonly business: readonly BusinessFacts[];
  /** Without steps that nobody took. */
  readonly medians: readonly MedianFacts[];
  /** By name. */
  readonly jobs: readonly JobFacts[];
}
