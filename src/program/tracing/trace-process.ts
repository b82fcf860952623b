/** Begins to trace a process: its spans go to an OpenTelemetry collector (docs/tracing.md). */

import { context } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Clock } from '../../ground/base/clock.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { watchStatements } from '../../ground/postgres/statement-watch.ts';
import type { Vault } from '../../seal/vault.ts';
import { BatchIds } from './batch-ids.ts';
import { Spans } from './spans.ts';
import { traceBy } from './tracing.ts';

/** How long the last spans may take at the end of the process, in milliseconds. */
const FLUSH_WITHIN_MS = 1_000;

interface TracedProcess {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly pools: readonly Database[];
  readonly version: string;
  /** Called where spans do not reach the collector: they are lost, and the work goes on. */
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

/** Makes each statement a span, a part of the span that is under way where the statement is sent. */
function traceStatements(pool: Database, spans: Spans): void {
  keepContext(pool);
  watchStatements(pool, ({ name, verb }) => {
    const span = spans.beginStatement(name ?? verb);
    return (error) => span?.end(error);
  });
}

type Connected = (...args: unknown[]) => void;

/** Who waits for a connection would otherwise go on in the span of the work that gave the connection back. */
function keepContext(pool: Database): void {
  const connect = pool.connect.bind(pool) as (connected?: Connected) => unknown;
  pool.connect = ((connected?: Connected) =>
    connected === undefined
      ? connect()
      : connect(context.bind(context.active(), connected))) as typeof pool.connect;
}
