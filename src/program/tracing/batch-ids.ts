/**
 * Makes the ids of spans: random ones, except for the spans that stand for stored batches (docs/tracing.md). Pure but
 * for random numbers.
 */
import type { Span, Tracer } from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace-node';
import type { BatchId } from '../../domain/application/ids.ts';
import type { Vault } from '../../seal/vault.ts';

/** 16 bytes are the id of a trace, 8 the id of a span, in hex digits. */
const SPAN_ID_DIGITS = 16;

/**
 * Gives the span of a batch the same ids in every process of a store, and other ids in another store: the trace's id is
 * a keyed hash of the batch's id. So a worker finds the trace of a message, and no row has to keep the trace.
 */
export class BatchIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  readonly #vault: Vault;
  #next: string | null = null;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  readonly generateTraceId = () => this.#next ?? this.#random.generateTraceId();
  readonly generateSpanId = () => this.#next?.slice(0, SPAN_ID_DIGITS) ?? this.#random.generateSpanId();

  begin(tracer: Tracer, batch: BatchId): Span {
    this.#next = this.#vault.blindIndex('trace', batch);
    try {
      return tracer.startSpan('batch', { root: true, attributes: { 'ventanilla.batch_id': batch } });
    } finally {
      this.#next = null;
    }
  }
}
