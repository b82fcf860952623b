/**
 * A listener for probes: `/healthz` tells whether the process lives, `/readyz` whether it can serve (docs/deploy.md,
 * "What to set"). The operators' listener adds pages. Touches the network; the given checks ask the database.
 */
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Clock } from '../../ground/base/clock.ts';
import { decodableUrl, frontDoor } from '../../wire/gate/front-door.ts';
import { inTime } from '../../wire/gate/in-time.ts';
import { NO_SCHEMAS } from '../../wire/gate/no-schemas.ts';
import { presentUnreadable, SECURITY_HEADERS } from '../../wire/gate/unreadable.ts';

const CONNECTION_LIMITS = { all: 256, perAddress: 64 };
/** Probes of an orchestrator give up after a few seconds. */
const READY_WITHIN_MS = 1_500;
const MAX_BODY_BYTES = 16_384;

type UnreadyReason =
  | 'unknown_data_key'
  | 'retired_data_key'
  | 'unknown_pepper'
  | 'other_index_key'
  | 'privileges_missing';

/** The checks behind the probes. */
export interface Health {
  /** True if the process does its work. Asks nothing outside of the process. */
  alive(): boolean;
  /** True if the database is reachable, migrated and granted, and the keys fit. Else false, or why not. */
  ready(): Promise<boolean | UnreadyReason>;
}

/** Answers `/healthz` and `/readyz`, and 404 everywhere else. `/readyz` answers within 1.5 s, even if `ready` hangs. */
export function healthApi({ alive, ready }: Health, clock: Clock): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    schemaController: NO_SCHEMAS,
    serverFactory: frontDoor({
      limits: CONNECTION_LIMITS,
      clock,
      keepAliveMs: 5_000,
      onUnanswered: () => {},
    }),
    clientErrorHandler: (error, socket) => presentUnreadable(error, socket as Socket),
    rewriteUrl: decodableUrl,
  });
  const look = oneAtATime(ready);
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
  app.get('/healthz', async (_request, reply) =>
    alive() ? { status: 'ok' } : reply.status(503).send({ status: 'stuck' }),
  );
  app.get('/readyz', async (_request, reply) => {
    const found = await inTime(clock, clock.monotonicMs() + READY_WITHIN_MS, look()).catch(() => false);
    if (found === true) return { status: 'ready' };
    return reply.status(503).send({ status: 'not_ready', ...(found !== false && { reason: found }) });
  });
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'not found' }));
  app.setErrorHandler(async (_error, _request, reply) =>
    reply.status(500).send({ error: 'temporary internal error; retry' }),
  );
  return app;
}

/** Probes at the same time share one call, so that probes cannot use up the connections of the database. */
function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  return () => {
    current ??= work().finally(() => {
      current = null;
    });
    return current;
  };
}
