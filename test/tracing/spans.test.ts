/** What a span of the service tells the collector of the client's own span (docs/tracing.md). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { propagation } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { BatchIds } from '../../src/program/tracing/batch-ids.ts';
import { Spans } from '../../src/program/tracing/trace-process.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const told = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(told)] });
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
after(() => {
  propagation.disable();
  return provider.shutdown();
});

it('the collector gets the ids of the client’s span, and no text of the client', () => {
  const request = {};
  const spans = new Spans(provider.getTracer('test'), new BatchIds({ blindIndex: () => '' } as never));
  spans.beginRequest(request, 'POST /PRO', {
    traceparent: `00-${TRACE}-${SPAN}-01`,
    tracestate: 'partner=+573001234567',
  });
  spans.endRequest(request, {}, { problem: null, failure: null });
  const [span] = told.getFinishedSpans();
  assert.equal(span!.parentSpanContext, undefined);
  assert.notEqual(span!.spanContext().traceId, TRACE);
  assert.deepEqual(
    span!.links.map(({ context }) => context),
    [{ traceId: TRACE, spanId: SPAN, traceFlags: 1 }],
  );
});
