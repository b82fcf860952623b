/**
 * Counts what a process does, for Prometheus (docs/monitoring.md, "/metrics"). The store's own numbers are read from
 * the store (`store-series.ts`). Labels are codes and ids of a closed list: no personal data, no text of a client. Only
 * adds to numbers in memory; a timer measures the event loop.
 */
import { getHeapStatistics } from 'node:v8';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { SendResult } from '../../../domain/message/channel.ts';
import { CHANNEL_STATUSES, type ChannelEvent } from '../../../domain/message/channel-event.ts';
import { SIGN_IN_RESULTS, SIGN_IN_STEPS } from '../../../domain/operator/sign-in-try.ts';
import type { Load } from '../../../program/subject/watcher.ts';

/** Seconds. Answers take milliseconds, and 9 s at most (D37). */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 9];
/** Seconds. A statement takes 3 s at most. */
const STATEMENT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];
/**
 * How often the delay of the event loop is measured; this is also the value of an event loop without delay. With 10 ms
 * an idle process took a quarter of a percent of a core more.
 */
const LOOP_MS = 50;
const PER_STATEMENT = [1, 2, 5, 10, 25, 50, 100, 200, 400, 800, 1600];

/** The label of statements without a name. */
export const OTHER = 'other';
const SENDS = [
  ...(['accepted', 'retry', 'pause_recipient', 'wait', 'give_up', 'opted_out'] as const),
  ...(['pause_template', 'pause_sender', 'uncertain'] as const),
] satisfies SendResult['kind'][];
const EVENTS = [...CHANNEL_STATUSES, 'tap', 'text', 'file', 'other', 'preference'] as const;
const PUSHES = ['delivered', 'failed', 'gone', 'unsent', 'forgotten'];

/** The members of a connection pool that are shown. */
export interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** One instance for each process. Each method only adds to numbers. */
export class Meters {
  readonly registry = new Registry();
  /** Requests that were refused because of overload, by partner; the label is chosen at the scrape. */
  readonly overload = new Map<number, number>();
  readonly #requests = this.histogram(
    'http_request_duration_seconds',
    'Time of requests of partners and of the channel, by route and outcome.',
    ['route', 'outcome'],
    REQUEST_SECONDS,
  );
  readonly #statements = this.histogram(
    'database_statement_duration_seconds',
    'Time of statements without the wait for a connection; those without a name are "other".',
    ['statement'],
    STATEMENT_SECONDS,
  );
  readonly #failures = this.counter('database_statement_failures_total', 'Statements that failed.', [
    'statement',
  ]);
  readonly #batches = this.histogram(
    'registration_statement_batches',
    'Batches that one statement registered.',
    [],
    PER_STATEMENT,
  );
  readonly #applications = this.histogram(
    'registration_statement_applications',
    'Applications that one statement registered or refused.',
    [],
    PER_STATEMENT,
  );
  readonly #leftOut = this.counter(
    'requests_not_noted_total',
    'Requests of partners that were answered and noted nowhere: there were too many, or the write failed.',
    [],
  );
  readonly #sends = this.counter('sends_total', 'Sends to the channel, by what the channel answered.', [
    'result',
  ]);
  readonly #replies = this.counter('reply_sends_total', 'Sends of replies, by what the channel answered.', [
    'result',
  ]);
  readonly #events = this.counter('channel_events_total', 'Events of the channel that are stored.', ['kind']);
  readonly #pushes = this.counter('push_attempts_total', 'Pushes of events, by result.', ['result']);

  readonly #signIns = this.counter(
    'sign_in_tries_total',
    "Tries to sign in to the operators' console, by step and result.",
    ['step', 'result'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_MS });
    const limit = this.gauge('heap_limit_bytes', 'The most memory of the JavaScript heap.', []);
    limit.set(getHeapStatistics().heap_size_limit);
    // A series that exists from the beginning shows its first event as an increase.
    this.#failures.inc({ statement: OTHER }, 0);
    for (const result of SENDS) {
      this.#sends.inc({ result }, 0);
      this.#replies.inc({ result }, 0);
    }
    for (const kind of EVENTS) this.#events.inc({ kind }, 0);
    for (const result of PUSHES) this.#pushes.inc({ result }, 0);
    for (const step of SIGN_IN_STEPS)
      for (const result of SIGN_IN_RESULTS) this.#signIns.inc({ step, result }, 0);
  }

  /** Adds a request that ended. `route`: the method and the path of a route, or `none`. */
  request(route: string, outcome: string, ms: number): void {
    this.#requests.observe({ route, outcome }, ms / 1000);
  }

  statement(statement: string, ms: number, isFailed: boolean): void {
    this.#statements.observe({ statement }, ms / 1000);
    if (isFailed) this.#failures.inc({ statement });
  }

  registration(batches: number, applications: number): void {
    this.#batches.observe(batches);
    this.#applications.observe(applications);
  }

  overloaded(refused: ReadonlyMap<number, number>): void {
    for (const [partnerId, requests] of refused) {
      this.overload.set(partnerId, (this.overload.get(partnerId) ?? 0) + requests);
    }
  }

  leftOut(requests: number): void {
    this.#leftOut.inc(requests);
  }

  sent(result: SendResult['kind']): void {
    this.#sends.inc({ result });
  }

  replied(result: SendResult['kind']): void {
    this.#replies.inc({ result });
  }

  channelEvents(events: readonly ChannelEvent[]): void {
    for (const event of events) {
      this.#events.inc({ kind: event.kind === 'status' ? event.status : event.kind });
    }
  }

  pushed(result: string): void {
    this.#pushes.inc({ result });
  }

  triedToSignIn(step: string, result: string): void {
    this.#signIns.inc({ step, result });
  }

  /** Shows the queue of requests. */
  watchLoad(read: () => Load): void {
    this.gauge('admission_waiting', 'Cost of the requests that wait, in applications.', [], (gauge) =>
      gauge.set(read().waiting),
    );
    this.gauge(
      'admission_at_work',
      'Cost of the requests that are worked on, in applications.',
      [],
      (gauge) => gauge.set(read().atWork),
    );
    this.gauge('admission_expected_wait_seconds', 'How long a new request would wait.', [], (gauge) =>
      gauge.set(read().expectedMs / 1000),
    );
  }

  /** Shows the connections of pools. */
  watchPools(pools: Readonly<Record<string, Pool>>): void {
    const each = (show: (pool: Pool, name: string) => void) => {
      for (const [name, pool] of Object.entries(pools)) show(pool, name);
    };
    this.gauge('database_connections', 'Connections to the database.', ['pool', 'state'], (gauge) =>
      each(({ totalCount, idleCount }, pool) => {
        gauge.set({ pool, state: 'idle' }, idleCount);
        gauge.set({ pool, state: 'busy' }, totalCount - idleCount);
      }),
    );
    this.gauge('database_waiting', 'Statements that wait for a connection.', ['pool'], (gauge) =>
      each(({ waitingCount }, pool) => gauge.set({ pool }, waitingCount)),
    );
  }

  /** A gauge that `collect` sets at each scrape. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect?: (gauge: Gauge<L>) => void,
  ): Gauge<L> {
    const options = { name: `ventanilla_${name}`, help, labelNames, registers: [this.registry] };
    if (collect === undefined) return new Gauge(options);
    return new Gauge({
      ...options,
      collect() {
        collect(this);
      },
    });
  }

  /** A counter of this process. */
  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `ventanilla_${name}`, help, labelNames, registers: [this.registry] });
  }

  /** A histogram of this process. */
  histogram<L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) {
    return new Histogram<L>({
      name: `ventanilla_${name}`,
      help,
      labelNames,
      buckets,
      registers: [this.registry],
    });
  }
}
