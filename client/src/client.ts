/** The client that a partner's program calls. */
import { asElement, type Batch, contentOf, cutBatches, OpenBatch, type SerialisedInput } from './batches.ts';
import { checkInteger, endpointOf } from './endpoint.ts';
import { attachKnown, type KnownInput, VentanillaError } from './errors.ts';
import type { PartnerEvent } from './events.ts';
import { readApplication, readEvents, searchApplications } from './feed.ts';
import type {
  ApplicationSearch,
  BatchOptions,
  CallOptions,
  ClientOptions,
  EventsOptions,
  IndexedOutcome,
  Progress,
  SearchOptions,
  SubmitOptions,
} from './options.ts';
import { inOrder, type SettledBatch } from './pipeline.ts';
import { readQuota } from './read-answer.ts';
import { type Endpoint, request } from './request.ts';
import { sendBatch } from './send-batch.ts';
import type { Application, ApplicationState, Outcome, Quota } from './wire.ts';

/** Submits credit applications to one environment of Ventanilla with one API key, and tells what becomes of them. */
export class VentanillaClient {
  readonly #endpoint: Endpoint;
  readonly #concurrency: number;

  /** Throws `TypeError` or `RangeError` for an invalid option. Sends nothing. */
  constructor(options: ClientOptions) {
    this.#endpoint = endpointOf(options);
    this.#concurrency = checkInteger('concurrency', options.concurrency ?? 4, 1);
  }

  /**
   * Submits any number of applications. Resolves to one outcome for each, at the same index. Rejects with a
   * `VentanillaError` whose `known` says what became of each sent input. Other inputs were not sent.
   */
  async submit(
    applications: Iterable<Application> | AsyncIterable<Application>,
    options: SubmitOptions = {},
  ): Promise<Outcome[]> {
    const done: (KnownInput & { known: Outcome })[] = [];
    try {
      for await (const settled of this.#settle(applications, options)) {
        for (const { index, input, outcome } of indexed(settled)) done.push({ index, input, known: outcome });
      }
    } catch (error) {
      if (error instanceof VentanillaError) attachKnown(error, [...done, ...error.known]);
      throw error;
    }
    return done.map(({ known }) => known);
  }

  /**
   * Submits applications and gives each outcome as it comes, in input order and in bounded memory. Inputs are read as
   * outcomes are taken, at most twice `concurrency` batches ahead. Leaving the loop early ends the requests under way;
   * then it is not known whether their applications were registered.
   */
  async *stream(
    applications: Iterable<Application> | AsyncIterable<Application>,
    options: SubmitOptions = {},
  ): AsyncGenerator<IndexedOutcome, void, undefined> {
    for await (const settled of this.#settle(applications, options)) yield* indexed(settled);
  }

  /**
   * Sends one request of 1 to 100 applications, with retries under one `Idempotency-Key`. The same applications give
   * the same bytes. This is for callers who keep their own record of keys; `submit` does all of it by itself. Throws
   * `RangeError` where the applications are too many or too large for a request, or where two have the same ID number:
   * their outcomes could not be told apart, so they belong in different batches.
   */
  async submitBatch(applications: readonly Application[], options: BatchOptions): Promise<Outcome[]> {
    const { idempotencyKey, ...patience } = options;
    if (typeof idempotencyKey !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
      throw new RangeError('idempotencyKey must be 1 to 255 printable ASCII characters');
    }
    if (applications.length === 0) throw new RangeError('a batch holds at least 1 application');
    const batch = new OpenBatch<SerialisedInput>();
    for (const [index, application] of applications.entries()) {
      const element = asElement(application);
      if (!batch.takes(element)) {
        throw new RangeError(
          `application ${index} does not fit into this batch: too many applications, too many bytes, or the same ID number again`,
        );
      }
      batch.add(element);
    }
    return sendBatch(this.#endpoint, { ...contentOf(batch.elements), idempotencyKey }, patience);
  }

  /** Where the partner stands with its quota. */
  quota(options: CallOptions = {}): Promise<Quota> {
    return request(this.#endpoint, { read: readQuota }, options);
  }

  /**
   * The events of the partner's applications, in order and without gaps: all that the service keeps, or those after
   * `after`. One page is held in memory. Each event's `id` is the cursor to store once you processed the event. Throws
   * a `CursorExpiredError` where the events after the cursor are no longer kept, and a `TypeError` on `/DEV`.
   */
  events(options: EventsOptions = {}): AsyncGenerator<PartnerEvent, void, undefined> {
    return readEvents(this.#endpoint, options);
  }

  /** Where the application with this `id` stands now; null where the partner has none. Throws `TypeError` on `/DEV`. */
  async application(id: number, options: CallOptions = {}): Promise<ApplicationState | null> {
    return readApplication(this.#endpoint, id, options);
  }

  /**
   * The partner's own applications as they are now, newest first: those of a day, or those with an ID number. One page
   * is held in memory. On `/DEV` nothing is found. Throws `TypeError` or `RangeError` for a wrong argument.
   */
  applications(
    search: ApplicationSearch,
    options: SearchOptions = {},
  ): AsyncGenerator<ApplicationState, void, undefined> {
    return searchApplications(this.#endpoint, search, options);
  }

  async *#settle(
    applications: Iterable<Application> | AsyncIterable<Application>,
    options: SubmitOptions,
  ): AsyncGenerator<SettledBatch, void, undefined> {
    const { submissionId = crypto.randomUUID(), signal, onProgress, onRetry, onQuota } = options;
    const batches = cutBatches(applications, submissionId);
    const send = (batch: Batch, stop: AbortSignal, noteRetry: () => void) =>
      sendBatch(this.#endpoint, batch, {
        signal: stop,
        onQuota,
        onRetry: (retry) => {
          noteRetry();
          onRetry?.(retry);
        },
      });
    const progress: Progress = { done: 0, registered: 0, duplicates: 0, invalid: 0, quotaExceeded: 0 };
    for await (const settled of inOrder(batches, send, this.#concurrency, signal)) {
      count(settled, progress);
      onProgress?.({ ...progress });
      yield settled;
    }
  }
}

function* indexed({ batch, outcomes }: SettledBatch): Generator<IndexedOutcome, void, undefined> {
  for (const [position, { input }] of batch.elements.entries()) {
    const outcome = outcomes[position];
    if (outcome !== undefined) yield { index: batch.start + position, input, outcome };
  }
}

const COUNTED = {
  registered: 'registered',
  duplicate: 'duplicates',
  invalid: 'invalid',
  quota_exceeded: 'quotaExceeded',
} as const satisfies Record<Outcome['kind'], keyof Progress>;

function count({ outcomes }: SettledBatch, progress: Progress): void {
  for (const { kind } of outcomes) {
    progress.done += 1;
    progress[COUNTED[kind]] += 1;
  }
}
