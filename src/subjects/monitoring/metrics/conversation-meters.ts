/**
 * Counts a process's work on conversations, documents and codes, for Prometheus (docs/monitoring.md, "/metrics"). Only
 * adds to numbers in memory.
 */
import type { Counter, Histogram } from 'prom-client';
import { WORKS } from '../../../domain/conversation/effect.ts';
import type { TurnsTaken, WorkResult } from '../../../program/subject/watcher.ts';
import type { Meters } from './meters.ts';

/** Seconds. A turn takes milliseconds; a statement of it takes 3 s at most. */
const TURN_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];
/** Seconds. The reader and the scanner have a minute each. */
const WORK_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 3, 10, 30, 60, 150];
const SCANS = ['clean', 'infected', 'too_large', 'unavailable'] as const;

export class ConversationMeters {
  readonly #turns: Counter;
  readonly #failures: Counter;
  readonly #reminders: Counter;
  readonly #turnTime: Histogram;
  readonly #events: Counter<'event' | 'outcome'>;
  readonly #work: Histogram<'work' | 'result'>;
  readonly #readings: Histogram<'result'>;
  readonly #scans: Counter<'result'>;
  readonly #codes: Counter<'way' | 'result'>;

  constructor(meters: Meters) {
    this.#turns = meters.counter('conversation_turns_total', 'Turns of conversations that were taken.', []);
    this.#failures = meters.counter(
      'conversation_turn_failures_total',
      'Transactions of turns that failed.',
      [],
    );
    this.#reminders = meters.counter(
      'conversation_reminders_total',
      'Templates that remind persons, queued.',
      [],
    );
    this.#turnTime = meters.histogram(
      'conversation_turn_duration_seconds',
      'Time of transactions, each of which takes turns of many conversations.',
      [],
      TURN_SECONDS,
    );
    this.#events = meters.counter('conversation_events_total', 'Events of conversations, by outcome.', [
      'event',
      'outcome',
    ]);
    this.#work = meters.histogram(
      'conversation_work_duration_seconds',
      'Time of work beside conversations, by what each try came to.',
      ['work', 'result'],
      WORK_SECONDS,
    );
    this.#readings = meters.histogram(
      'document_reading_duration_seconds',
      'Time of the processes that read documents, by "read" or their fault.',
      ['result'],
      WORK_SECONDS,
    );
    this.#scans = meters.counter('document_scans_total', 'Files that the virus scanner was asked about.', [
      'result',
    ]);
    this.#codes = meters.counter('signing_codes_total', 'Codes for signatures, by way.', ['way', 'result']);
    // A series that exists from the beginning shows its first event as an increase.
    for (const work of WORKS) this.#work.zero({ work, result: 'done' });
    this.#readings.zero({ result: 'read' });
    for (const result of SCANS) this.#scans.inc({ result }, 0);
    for (const event of ['conversation.started', 'contract.signed', 'contract.withdrawn']) {
      this.#events.inc({ event, outcome: '' }, 0);
    }
    for (const result of ['sent', 'failed']) this.#codes.inc({ way: 'sms', result }, 0);
  }

  turns({ turns, tookMs, events, reminders }: TurnsTaken): void {
    this.#turns.inc(turns);
    this.#turnTime.observe(tookMs / 1000);
    this.#reminders.inc(reminders);
    for (const { event, outcome = '' } of events) this.#events.inc({ event, outcome });
  }

  turnsFailed(): void {
    this.#failures.inc();
  }

  work(work: string, result: WorkResult, tookMs: number): void {
    this.#work.observe({ work, result }, tookMs / 1000);
  }

  reading(result: string, tookMs: number): void {
    this.#readings.observe({ result }, tookMs / 1000);
  }

  scan(result: string): void {
    this.#scans.inc({ result });
  }

  code(way: string, result: string): void {
    this.#codes.inc({ way, result });
  }
}
