/**
 * The series whose numbers come from the store (docs/monitoring.md, "/metrics"). Every process of one store shows the
 * same numbers, so a query takes their maximum, not their sum. Sets numbers in memory; `sql/store-facts.ts` reads them.
 */
import { Counter, type Gauge } from 'prom-client';
import type { DriftFacts, PartnerFacts, ReviewFacts, StoreFacts } from '../rules/store-facts.ts';
import { ENDPOINT_STATUSES, MOST_LATER } from '../rules/store-facts.ts';
import { failingBackups, rowsForged, termsRefused } from '../rules/troubles.ts';
import { ConversationSeries } from './conversation-series.ts';
import type { Meters } from './meters.ts';

/** Every status, so that a series is there before the first message. */
const MESSAGE_STATUSES = [
  ...['queued', 'sending', 'accepted', 'sent', 'delivered', 'read', 'failed', 'uncertain', 'cancelled'],
];

export class StoreSeries {
  readonly #meters: Meters;
  readonly #version: string;
  readonly #up: Gauge;
  readonly #build: Gauge<'version' | 'node' | 'postgresql'>;
  readonly #gauges: Readonly<Record<GaugeName, Gauge<string>>>;
  readonly #conversations: ConversationSeries;
  readonly #applications: Counter<'partner' | 'outcome'>;
  readonly #unauthorized: Counter<'partner'>;
  readonly #business: Counter<'partner' | 'event'>;
  readonly #searches: Counter<'result'>;
  readonly #overload: Counter<'partner'>;
  /** The partners that had a series of their own when the store last answered. */
  #shown = new Set<string>();

  /** `version` is the version of the program. */
  constructor(meters: Meters, version: string) {
    this.#meters = meters;
    this.#version = version;
    this.#up = meters.gauge('store_up', '1 where the store answered this scrape in time, else 0.', []);
    this.#build = meters.gauge('build_info', 'Always 1. Versions are labels.', [
      'version',
      'node',
      'postgresql',
    ]);
    this.#gauges = Object.fromEntries(
      Object.entries(GAUGES).map(([name, [help, labels]]) => [name, meters.gauge(name, help, labels)]),
    ) as Record<GaugeName, Gauge<string>>;
    this.#conversations = new ConversationSeries(meters);
    const registers = [meters.registry];
    this.#applications = new Counter({
      name: 'ventanilla_applications_total',
      help: 'Applications on PRO by partner and outcome.',
      labelNames: ['partner', 'outcome'],
      registers,
    });
    this.#unauthorized = new Counter({
      name: 'ventanilla_unauthorized_requests_total',
      help: 'Requests with a dead key of a partner, or with a key for the other environment.',
      labelNames: ['partner'],
      registers,
    });
    this.#business = new Counter({
      name: 'ventanilla_business_events_total',
      help: 'What became of applications, by partner: decisions, reviews, conversations, offers, signatures, payments.',
      labelNames: ['partner', 'event'],
      registers,
    });
    this.#searches = new Counter({
      name: 'ventanilla_operator_searches_total',
      help: 'Searches of operators in the console, and those that were too many within a minute.',
      labelNames: ['result'],
      registers,
    });
    this.#overload = new Counter({
      name: 'ventanilla_overload_refused_requests_total',
      help: 'Requests that this process refused because of overload.',
      labelNames: ['partner'],
      registers,
    });
  }

  /** Shows the facts of the store; null: the store did not answer, and its series are absent. */
  show(facts: StoreFacts | null): void {
    this.#reset();
    this.#conversations.show(facts?.conversations ?? null);
    this.#up.set(facts === null ? 0 : 1);
    const versions = { version: this.#version, node: process.versions.node };
    this.#build.set({ ...versions, postgresql: facts?.serverVersion ?? 'unknown' }, 1);
    if (facts !== null) this.#shown = new Set(facts.partners.map(({ partner }) => partner));
    for (const partner of this.#shown) this.#overload.inc({ partner }, 0);
    for (const [partnerId, requests] of this.#meters.overload) {
      this.#overload.inc({ partner: this.#shown.has(`${partnerId}`) ? `${partnerId}` : 'other' }, requests);
    }
    if (facts === null) return;
    this.#showMessages(facts);
    this.#showReview(facts.review);
    for (const partner of facts.partners) this.#showPartner(partner);
    for (const status of ENDPOINT_STATUSES) this.#showEndpoints(facts, status);
    for (const { partner, event, times } of facts.business) this.#business.inc({ partner, event }, times);
    for (const { step, seconds } of facts.medians)
      this.#gauges.business_step_median_seconds.set({ step }, seconds);
    for (const [result, times] of Object.entries(facts.searches)) this.#searches.inc({ result }, times);
    for (const drift of facts.drift) this.#showDrift(drift);
    const gauges = this.#gauges;
    for (const { job, succeededAt, tookMs } of facts.jobs) {
      if (succeededAt !== null) {
        gauges.upkeep_last_success_timestamp_seconds.set({ task: job }, succeededAt.getTime() / 1000);
      }
      gauges.upkeep_duration_seconds.set({ task: job }, tookMs / 1000);
    }
    gauges.partitions_ahead.set(facts.partitionsAhead);
    gauges.refusal_sweeps.set(facts.sweeps);
    gauges.terms_refused.set(termsRefused(facts));
    gauges.backups_failing.set(failingBackups(facts).length);
    gauges.rows_forged.set(rowsForged(facts));
    gauges.sealing_data_keys.set(facts.keys.sealing);
    gauges.seals_share.set(facts.keys.share);
    gauges.reseal_late_seconds.set(facts.keys.resealLateS);
  }

  #reset(): void {
    for (const metric of [
      this.#build,
      this.#applications,
      this.#unauthorized,
      this.#business,
      this.#searches,
      this.#overload,
    ])
      metric.reset();
    for (const [name, [, labels]] of Object.entries(GAUGES)) {
      const gauge = this.#gauges[name as GaugeName];
      gauge.reset();
      // Otherwise a gauge without labels would show a 0 that nobody has read from the store.
      if (labels.length === 0) gauge.remove();
    }
  }

  #showMessages({ messages, lateS, later, unsettledS, sender, undelivered }: StoreFacts): void {
    const gauges = this.#gauges;
    for (const status of MESSAGE_STATUSES) gauges.messages.set({ status }, messages.get(status) ?? 0);
    gauges.messages_later.set(later.messages);
    if (later.messages < MOST_LATER) {
      gauges.messages_due.set(Math.max(0, (messages.get('queued') ?? 0) - later.messages));
    }
    gauges.messages_oldest_seconds.set({ status: 'queued' }, lateS);
    gauges.messages_oldest_seconds.set({ status: 'uncertain' }, unsettledS);
    gauges.messages_undelivered.set(undelivered);
    gauges.channel_broken.set(sender.brokenAt === null ? 0 : 1);
    gauges.sender_paused.set(sender.pausedAt === null ? 0 : 1);
    gauges.templates_paused.set(sender.pausedTemplates);
  }

  #showReview(review: ReviewFacts): void {
    const gauges = this.#gauges;
    gauges.reviews_waiting.set(review.waiting);
    gauges.reviews_unclaimed.set(review.unclaimed);
    gauges.reviews_overdue.set(review.overdue);
    gauges.reviews_oldest_seconds.set(review.oldestS);
    gauges.reviews_overdue_seconds.set(review.overdueS);
    gauges.proposals_unconfirmed.set(review.unconfirmed);
    gauges.proposals_unconfirmed_oldest_seconds.set(review.unconfirmedS);
    gauges.cases_overdue.set(review.casesOverdue);
    gauges.cases_overdue_seconds.set(review.casesOverdueS);
  }

  #showPartner({ partner, used, dailyCap, unauthorized, ...counts }: PartnerFacts): void {
    for (const outcome of ['registered', 'duplicate', 'invalid'] as const) {
      this.#applications.inc({ partner, outcome }, counts[outcome]);
    }
    this.#applications.inc({ partner, outcome: 'over_quota' }, counts.overQuota);
    this.#unauthorized.inc({ partner }, unauthorized);
    this.#gauges.partner_used_applications.set({ partner }, used);
    if (dailyCap !== null) this.#gauges.partner_daily_cap_applications.set({ partner }, dailyCap);
  }

  /** Partners that share a series of others have no index: indexes do not add up. */
  #showDrift({ partner, characteristic, psi, threshold }: DriftFacts): void {
    if (partner !== null && !this.#shown.has(partner)) return;
    const labels = { characteristic, ...(partner !== null && { partner }) };
    this.#gauges.policy_psi.set(labels, psi);
    this.#gauges.policy_psi_threshold.set(labels, threshold);
  }

  #showEndpoints({ endpoints }: StoreFacts, status: (typeof ENDPOINT_STATUSES)[number]): void {
    const found = endpoints.find((one) => one.status === status);
    this.#gauges.endpoints.set({ status }, found?.endpoints ?? 0);
    this.#gauges.pushes_behind.set({ status }, found?.behind ?? 0);
    this.#gauges.pushes_oldest_seconds.set({ status }, found?.oldestS ?? 0);
  }
}

type GaugeName = keyof typeof GAUGES;

const GAUGES = {
  messages: ['Messages by status.', ['status']],
  messages_oldest_seconds: [
    'How long the oldest message waits: a queued one since it was due, an uncertain one since an operator may settle it.',
    ['status'],
  ],
  messages_later: ['Queued messages whose time has not come, counted up to 50,000.', []],
  messages_due: ['Queued messages that are due; absent where 50,000 or more wait for their time.', []],
  reviews_waiting: ['Applications in review that wait for an operator.', []],
  reviews_unclaimed: ['Those of them that no operator holds.', []],
  reviews_overdue: ['Those of them whose decision is overdue.', []],
  reviews_oldest_seconds: ['How long ago the oldest of them was registered.', []],
  reviews_overdue_seconds: ['For how long the decision on the latest of them has been due.', []],
  proposals_unconfirmed: ['Proposals that wait for a second operator, counted up to 2,000.', []],
  proposals_unconfirmed_oldest_seconds: ['How long the oldest of these waits.', []],
  cases_overdue: ['Open cases of persons past their term, counted up to 2,000.', []],
  cases_overdue_seconds: ['The time since the end of the term of the first one; 0: none.', []],
  messages_undelivered: [
    'Messages that the channel accepted in the last one to two hours, while it delivered none; else 0.',
    [],
  ],
  channel_broken: ['1 while the channel fails and only probes go out.', []],
  sender_paused: ['1 while all messages are paused until an operator resumes them.', []],
  templates_paused: ['Templates that are paused until an operator resumes them.', []],
  partner_used_applications: ['Applications of a partner in the last 24 hours.', ['partner']],
  partner_daily_cap_applications: ['The smallest cap of the live keys of a partner.', ['partner']],
  business_step_median_seconds: [
    'The median time from the step before to a step of the business, over the last seven whole days.',
    ['step'],
  ],
  endpoints: ['Endpoints of partners by status; those that an operator disabled are left out.', ['status']],
  pushes_behind: ['Events from the oldest that waits for its push to the newest.', ['status']],
  pushes_oldest_seconds: ['How long the oldest event waits for its push.', ['status']],
  policy_psi: [
    'How far the applications of the last week differ from those that the live policy began with: the population stability index.',
    ['characteristic', 'partner'],
  ],
  policy_psi_threshold: ['What this index has to pass for a drift.', ['characteristic', 'partner']],
  upkeep_last_success_timestamp_seconds: ['When a job of the upkeep last succeeded.', ['task']],
  upkeep_duration_seconds: ['How long the last run of a job of the upkeep took.', ['task']],
  partitions_ahead: ['Partitions of batch numbers that are made and not used up.', []],
  sealing_data_keys: ['Data keys that running services seal with: two while a key is replaced.', []],
  seals_share: ['How much of its bound the most used of these keys has sealed, from 0 to 1.', []],
  reseal_late_seconds: ['For how long a step of a reseal under way has been due; 0 without a reseal.', []],
  rows_forged: ['1 while a check finds accounts, sessions or API keys that no service has written.', []],
  terms_refused: ['1 while a process is refused the new terms or certificate, and keeps the old ones.', []],
  backups_failing: ['Jobs of the backups whose last run failed: bases, the log, erasures, files.', []],
  refusal_sweeps: ['Keys whose refusals of the last two hours look like a sweep of phones.', []],
} satisfies Readonly<Record<string, readonly [help: string, labels: readonly string[]]>>;
