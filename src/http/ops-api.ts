/** The listener that operators reach: is the process alive, and can it serve. */
import fastify, { type FastifyInstance } from 'fastify';

/** `ready` tells whether the database is reachable and migrated; it must be bounded in time. */
export function opsApi(ready: () => Promise<boolean>): FastifyInstance {
  const app = fastify({ forceCloseConnections: true, requestTimeout: 10_000 });
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const isReady = await ready().catch(() => false);
    return reply.status(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not_ready' });
  });
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'not found' }));
  app.setErrorHandler(async (_error, _request, reply) =>
    reply.status(500).send({ error: 'temporary internal error; retry' }),
  );
  return app;
}
