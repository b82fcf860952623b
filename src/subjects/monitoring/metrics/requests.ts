/**
 * Measures the requests of the partners' listener by hooks (docs/monitoring.md, "/metrics"). Only adds to numbers in
 * memory.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Meters } from './meters.ts';

/** Hooks that count each request when its answer is sent, or when its client has left. */
export function measureRequests(app: FastifyInstance, meters: Meters): void {
  app.addHook('onResponse', (request, reply, done) => {
    meters.request(routeOf(request), outcomeOf(request, reply.statusCode), reply.elapsedTime);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    meters.request(routeOf(request), request.problem === 'in_doubt' ? 'in_doubt' : 'aborted', 0);
    done();
  });
}

/** The path of the route, because a client may put anything into a URL. */
function routeOf({ method, routeOptions, is404 }: FastifyRequest): string {
  return is404 || routeOptions.url === undefined ? 'none' : `${method} ${routeOptions.url}`;
}

/** Problems are codes of a closed list (`contract/texts`). */
function outcomeOf({ problem }: FastifyRequest, status: number): string {
  if (status < 400) return 'ok';
  return problem ?? `status_${Math.floor(status / 100)}xx`;
}
