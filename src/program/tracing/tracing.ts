/**
 * What the rooms of the service know of tracing (docs/tracing.md). A process that is not traced loads no more than this
 * file. A span never holds personal data: names and attributes are constants, codes, counts and ids.
 */
import type { FastifyInstance } from 'fastify';
import type { ApplicationId, BatchId } from '../../domain/application/ids.ts';

/** Attributes of a span; one that is undefined is left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>;

/** A piece of work that is traced. */
export interface Span {
  add(facts: Facts): void;
  /** `error` is why the work failed, null where it succeeded. The span holds its code or its class, never its text. */
  end(error?: unknown): void;
}

/** The tracing of a process. */
export interface Tracing {
  /** Traces the requests of a listener. */
  follow(app: FastifyInstance): void;
  /** Begins a span in the one that is under way here; null where none is. */
  begin(name: string, facts: Facts): Span | null;
  /** Does work that several spans share: it is a part of the first one, and linked with the others. */
  within<T>(spans: readonly Span[], work: () => T): T;
  /** A batch is stored: tells the span that stands for the batch, linked with the span of its registration. */
  stored(batch: BatchId, registration: Span): void;
  /** Begins a span of later work on an application, in the span that stands for its batch. */
  beginLater(name: string, application: ApplicationId, facts: Facts): Span;
  /** The trace of a request, as 32 hex digits; undefined where the request is not traced. */
  traceIdOf(request: object): string | undefined;
}

let current: Tracing | null = null;

/** The tracing of this process; null: it is not traced. */
export const tracing = (): Tracing | null => current;

/** Traces the process from now on; null: no more. */
export function traceBy(some: Tracing | null): void {
  current = some;
}
