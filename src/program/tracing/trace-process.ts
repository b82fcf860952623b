/**
 * Traces a process: begins and ends spans for requests, statements and batches, and sends them to an OpenTelemetry
 * collector. Touches the network. docs/tracing.md has the rule.
 */
import {
  type Context,
  context,
  createContextKey,
  type Span as OpenSpan,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ApplicationId, type BatchId, batchAndPositionOf } from '../../domain/application/ids.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { errorCode } from '../../ground/base/describe-error.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { watchStatements } from '../../ground/postgres/statement-watch.ts';
import type { Vault } from '../../seal/vault.ts';
import { BatchIds } from './batch-ids.ts';
import { type Facts, type Span, type Tracing, traceBy } from './tracing.ts';

const OTHERS = createContextKey('the other spans that share the work');

/** A span, with the context in which other spans become its parts. */
class TracedSpan implements Span {
  readonly open: OpenSpan;

  constructor(open: OpenSpan) {
    this.open = open;
  }

  add(facts: Facts): void {
    this.open.setAttributes(facts);
  }

  end(error: unknown = null): void {
    if (error !== null) this.fail(errorCode(error) ?? (error instanceof Error ? error.name : 'unknown'));
    this.open.end();
  }

  fail(code: string): void {
    this.open.setAttribute('error.type', code);
    this.open.setStatus({ code: SpanStatusCode.ERROR });
  }
}

export class Spans implements Tracing {
  readonly #tracer: Tracer;
  readonly #ids: BatchIds;
  readonly #requests = new WeakMap<object, TracedSpan>();

  constructor(tracer: Tracer, ids: BatchIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  follow(app: FastifyInstance): void {
    traceRequests(app, this);
  }

  begin(name: string, facts: Facts): Span | null {
    if (trace.getActiveSpan() === undefined) return null;
    return new TracedSpan(this.#tracer.startSpan(name, { attributes: facts }));
  }

  /** Begins the span of a statement; null if no span is under way. */
  beginStatement(summary: string): Span | null {
    if (trace.getActiveSpan() === undefined) return null;
    const others = (context.active().getValue(OTHERS) as readonly OpenSpan[] | undefined) ?? [];
    const span = this.#tracer.startSpan(summary, {
      kind: SpanKind.CLIENT,
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary },
      links: others.map(linkTo),
    });
    for (const other of others) other.addLink(linkTo(span));
    return new TracedSpan(span);
  }

  within<T>(spans: readonly Span[], work: () => T): T {
    const [first, ...others] = (spans as readonly TracedSpan[]).map(({ open }) => open);
    if (first === undefined) return work();
    return context.with(trace.setSpan(ROOT_CONTEXT, first).setValue(OTHERS, others), work);
  }

  stored(batch: BatchId, registration: Span): void {
    const { open } = registration as TracedSpan;
    const span = this.#ids.begin(this.#tracer, batch);
    span.addLink(linkTo(open));
    open.addLink(linkTo(span));
    span.end();
  }

  beginLater(name: string, application: ApplicationId, facts: Facts): Span {
    // The span of the batch is not ended here: only the process that stored the batch sends it.
    const batch = this.#ids.begin(this.#tracer, batchAndPositionOf(application).batchId);
    const options = { kind: SpanKind.CLIENT, attributes: facts };
    return new TracedSpan(this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, batch)));
  }

  /** The client's own span is a link, not the parent, because a partner must not decide what is traced here. */
  beginRequest(request: object, name: string, headers: object): Context {
    const client = trace.getSpan(propagation.extract(ROOT_CONTEXT, headers));
    const links = client === undefined ? [] : [linkTo(client)];
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, root: true, links });
    this.#requests.set(request, new TracedSpan(span));
    return trace.setSpan(ROOT_CONTEXT, span);
  }

  endRequest(
    request: object,
    facts: Facts,
    { problem, failure }: { problem: string | null; failure: string | null },
  ) {
    const span = this.#requests.get(request);
    if (span === undefined) return;
    span.add({ ...facts, 'error.type': problem ?? undefined });
    if (failure !== null) span.fail(failure);
    span.end();
  }

  traceIdOf(request: object): string | undefined {
    return this.#requests.get(request)?.open.spanContext().traceId;
  }
}

/** Links by ids alone, because a client may put anything into the `tracestate` of its span. */
function linkTo(span: OpenSpan) {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { context: { traceId, spanId, traceFlags } };
}

// Traces each request of a listener from its head to its answer, or until its client leaves.

/** The spans of requests. */
interface RequestSpans {
  /** Begins the span of a request; returns the context in which the request goes on. */
  beginRequest(request: object, name: string, headers: object): Context;
  /** `problem`: what was wrong with the request. `failure`: why the service or the client ended the request early. */
  endRequest(
    request: object,
    facts: Facts,
    reasons: { readonly problem: string | null; readonly failure: string | null },
  ): void;
}

/** Adds the hooks that trace requests. */
function traceRequests(app: FastifyInstance, spans: RequestSpans): void {
  app.addHook('onRequest', (request, _reply, done) => {
    context.with(spans.beginRequest(request, nameOf(request), request.headers), done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { problem } = request;
    const { statusCode: status } = reply;
    const failure = status >= 500 ? (problem ?? `${status}`) : null;
    spans.endRequest(
      request,
      { ...factsOf(request), 'http.response.status_code': status },
      { problem, failure },
    );
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    spans.endRequest(request, factsOf(request), { problem: null, failure: 'aborted' });
    done();
  });
}

function factsOf({ id, method, routeOptions, credential, outcomes }: FastifyRequest) {
  return {
    'http.request.method': method,
    'http.route': routeOptions.url,
    'ventanilla.request_id': id,
    'ventanilla.partner_id': credential?.partner.id,
    'ventanilla.applications': outcomes?.length,
  };
}

/** The path of the route, because a client may put anything into a URL. */
function nameOf({ method, is404, routeOptions }: FastifyRequest): string {
  return is404 || routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`;
}

/** How long the last spans may take at the end of the process, in milliseconds. */
const FLUSH_WITHIN_MS = 1_000;

interface TracedProcess {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly pools: readonly Database[];
  readonly version: string;
  /** Called if spans do not reach the collector. They are lost, and the work goes on. */
  readonly failed: (facts: { code: string | number | null }) => void;
}

/**
 * Traces the process; returns the function that ends this. The SDK keeps 2,048 spans at most (OTEL_BSP_*), so a
 * collector that is slow or away costs no more memory than these.
 */
export function traceProcess({ vault, clock, pools, version, failed }: TracedProcess): () => Promise<void> {
  setGlobalErrorHandler((error) => failed({ code: codeOf(error) }));
  const ids = new BatchIds(vault);
  const provider = new NodeTracerProvider({
    idGenerator: ids,
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'ventanilla', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  const spans = new Spans(provider.getTracer('ventanilla', version), ids);
  traceBy(spans);
  for (const pool of pools) traceStatements(pool, spans);
  return async () => {
    traceBy(null);
    const flushed = provider.shutdown().catch((error) => failed({ code: codeOf(error) }));
    await Promise.race([flushed, clock.sleep(FLUSH_WITHIN_MS, { ref: false })]);
  };
}

/** The status of the collector's answer, or the code of a connection that failed. The text may hold the answer. */
function codeOf(error: unknown): string | number | null {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? code : null;
}

// Traces the statements of a pool. Their texts have no values, and are left out because they are long.

/** Makes each statement a span, as a part of the span in which the statement is sent. */
function traceStatements(pool: Database, spans: Spans): void {
  keepContext(pool);
  watchStatements(pool, ({ name, verb }) => {
    const span = spans.beginStatement(name ?? verb);
    return (error) => span?.end(error);
  });
}

type Connected = (...args: unknown[]) => void;

/**
 * Keeps the context of work that waits for a connection. Otherwise it would go on in the span of the work that gave the
 * connection back.
 */
function keepContext(pool: Database): void {
  const connect = pool.connect.bind(pool) as (connected?: Connected) => unknown;
  pool.connect = ((connected?: Connected) =>
    connected === undefined
      ? connect()
      : connect(context.bind(context.active(), connected))) as typeof pool.connect;
}
