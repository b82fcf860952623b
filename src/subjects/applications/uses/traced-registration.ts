/**
 * Traces registrations: each batch has a span, from the moment when it waits for its statement to its verdict
 * (docs/tracing.md).
 */
import type { Span, Tracing } from '../../../program/tracing/tracing.ts';
import type { PreparedBatch } from '../sql/prepared-batch.ts';
import type { AroundStatement, Registrar } from '../sql/registration.ts';

/** What registers the batches of requests. */
type Registering = Pick<Registrar, 'register'>;

export class TracedRegistrations {
  readonly #tracing: Tracing;
  readonly #spans = new WeakMap<PreparedBatch, Span>();

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** The statement is a part of the first batch's span. */
  readonly around: AroundStatement = (batches, call) => {
    const spans = batches.map((batch) => this.#spans.get(batch)).filter((span) => span !== undefined);
    return this.#tracing.within(spans, call);
  };

  /** Registers as `registrar` does. */
  of(registrar: Registering): Registering {
    return { register: (batch, deadline) => this.#register(registrar, batch, deadline) };
  }

  async #register(registrar: Registering, batch: PreparedBatch, deadline: number) {
    const span = this.#tracing.begin('register', { 'ventanilla.applications': batch.candidates.length });
    if (span === null) return registrar.register(batch, deadline);
    this.#spans.set(batch, span);
    try {
      const verdict = await registrar.register(batch, deadline);
      span.add({ 'ventanilla.verdict': verdict.kind });
      if (verdict.kind === 'done' && verdict.batch.hasRegistered(batch.candidates)) {
        this.#tracing.stored(verdict.batch.id, span);
      }
      span.end();
      return verdict;
    } catch (error) {
      span.end(error);
      throw error;
    }
  }
}
