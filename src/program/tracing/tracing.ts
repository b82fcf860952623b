/**
 * What the rooms of the service know about tracing: the interface, and the tracing of this process. A process that is
 * not traced loads only this file. A span never holds personal data: names and attributes are constants, codes, counts
 * and ids. docs/tracing.md has the rule.
 */
import type { FastifyInstance } from 'fastify';
import type { ApplicationId, BatchId } from '../../domain/application/ids.ts';

/** Attributes of a span; those that are undefined are left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>;

/** A piece of work that is traced. */
export interface Span {
  add(facts: Facts): void;
  /** `error` is why the work failed, null if it succeeded. The span holds its code or its class, never its text. */
  end(error?: unknown): void;
}

/** The tracing of a process. */
export interface Tracing {
  /** Traces the requests of a listener. */
  follow(app: FastifyInstance): void;
  /** Begins a span in the present span; null if there is none. */
  begin(name: string, facts: Facts): Span | null;
  /** Does work that several spans share: it is a part of the first one, and linked with the others. */
  within<T>(spans: readonly Span[], work: () => T): T;
  /** A batch is stored: sends the span that stands for the batch, linked with the span of its registration. */
  stored(batch: BatchId, registration: Span): void;
  /** Begins a span of later work on an application, in the span that stands for its batch. */
  beginLater(name: string, application: ApplicationId, facts: Facts): Span;
  /** The trace of a request, as 32 hex digits; undefined if the request is not traced. */
  traceIdOf(request: object): string | undefined;
}

let current: Tracing | null = null;

/** The tracing of this process; null: it is not traced. */
export const tracing = (): Tracing | null => current;

/** Traces the process from now on; null: no more. */
export function traceBy(some: Tracing | null): void {
  current = some;
}
