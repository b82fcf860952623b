/**
 * Adds `/metrics` for Prometheus to the listener of `OPS_PORT` or of `METRICS_PORT` (docs/monitoring.md, "/metrics").
 * `scrape.ts` reads the store.
 */
import type { FastifyInstance } from 'fastify';
import type { Scrape } from './scrape.ts';

/** Adds the route. */
export function addMetrics(app: FastifyInstance, scrape: Scrape): void {
  app.get('/metrics', async (_request, reply) => {
    const text = await scrape.text();
    return reply.header('Content-Type', scrape.contentType).send(text);
  });
}
