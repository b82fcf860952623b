/** Traces each request of a listener from its head to its answer, or until its client leaves. */
import { type Context, context } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Facts } from './tracing.ts';

/** The spans of requests. */
interface RequestSpans {
  /** Begins the span of a request; returns the context in which the request goes on. */
  beginRequest(request: object, name: string, headers: object): Context;
  /** `problem`: what was wrong with the request. `failure`: why the service or the client gave the request up. */
  endRequest(
    request: object,
    facts: Facts,
    reasons: { readonly problem: string | null; readonly failure: string | null },
  ): void;
}

/** Adds the hooks that trace requests. */
export function traceRequests(app: FastifyInstance, spans: RequestSpans): void {
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
