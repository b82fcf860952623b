/** The operators' listener: tells whether the process is alive and whether it can serve. */
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { decodableUrl, frontDoor } from './front-door.ts';
import { inTime } from './in-time.ts';
import { presentUnreadable, SECURITY_HEADERS } from './present-error.ts';

const CONNECTION_LIMITS = { all: 256, perAddress: 64 };
/** A probe of an orchestrator gives up after a few seconds. */
const READY_WITHIN_MS = 1_500;
const MAX_BODY_BYTES = 16_384;

/** `ready` tells whether the database is reachable and migrated. */
export function opsApi(ready: () => Promise<boolean>): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    serverFactory: frontDoor({ limits: CONNECTION_LIMITS, keepAliveMs: 5_000, onUnanswered: () => {} }),
    clientErrorHandler: (error, socket) => presentUnreadable(error, socket as Socket),
    rewriteUrl: decodableUrl,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const isReady = await inTime(performance.now() + READY_WITHIN_MS, ready()).catch(() => false);
    return reply.status(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not_ready' });
  });
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'not found' }));
  app.setErrorHandler(async (_error, _request, reply) =>
    reply.status(500).send({ error: 'temporary internal error; retry' }),
  );
  return app;
}
