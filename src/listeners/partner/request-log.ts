/** One log line a request: its route, its outcomes and its time. Never personal data or a key. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Outcome } from '../../domain/application/outcome.ts';
import { tracing } from '../../program/tracing/tracing.ts';

/** Gives every request an id, which the answer repeats in a header, and logs the request when it is done. */
export function logRequests(app: FastifyInstance, log: Logger): void {
  app.setGenReqId(() => randomUUID());
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('X-Request-Id', request.id);
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.info(requestLine(request, reply.statusCode, reply.elapsedTime), 'request');
    done();
  });
  app.addHook('onRequestAbort', async (request) => {
    log.info({ request_id: request.id, method: request.method, aborted: true }, 'request');
  });
}

function requestLine(request: FastifyRequest, status: number, ms: number): object {
  return {
    request_id: request.id,
    method: request.method,
    // The route, not the URL, because a client may put personal data or a key into a URL.
    route: request.routeOptions.url ?? null,
    status,
    ms: Math.round(ms * 10) / 10,
    trace_id: tracing()?.traceIdOf(request),
    ...(request.credential === null
      ? {}
      : { key_id: request.credential.keyId, partner_id: request.credential.partner.id }),
    ...(request.problem === null ? {} : { problem: request.problem }),
    ...(request.outcomes === null ? {} : { outcomes: countKinds(request.outcomes) }),
  };
}

function countKinds(outcomes: readonly Outcome[]): Partial<Record<Outcome['kind'], number>> {
  const counts: Partial<Record<Outcome['kind'], number>> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
