/** The listener of the operators' console: every request passes the site, the session, the role and the form. */
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { errorFields } from '../base/error-fields.ts';
import { decodableUrl, frontDoor } from '../gate/front-door.ts';
import { inTime } from '../gate/in-time.ts';
import { NO_SCHEMAS } from '../http/no-schemas.ts';
import { presentUnreadable, SECURITY_HEADERS } from '../http/present-error.ts';
import { type LogFailure, temporaryTrouble } from '../operations/failure-log.ts';
import { mayActAs } from '../operators/rules/role.ts';
import { type BrowserSession, findSession, type SessionKey } from '../operators/sql/sessions.ts';
import { BusyError } from '../operators/uses/password-hash.ts';
import { readCookie } from '../operators/uses/tokens.ts';
import type { Database } from '../postgres/database.ts';
import { cookieHeader, cookieOf } from './cookie.ts';
import { faultOfForm } from './fault-of-form.ts';
import { openapiOf } from './openapi.ts';
import type { Access, Answer, Route } from './route.ts';
import { refusalOfSite } from './same-site.ts';

const CONNECTION_LIMITS = { all: 512, perAddress: 128 };
const MAX_BODY_BYTES = 65_536;
const ANSWER_WITHIN_MS = 9_000;
const BUSY_RETRY_S = 1;

/** What the listener needs. */
export interface ConsoleApi {
  readonly database: Database;
  readonly routes: readonly Route[];
  /** The origin under which browsers reach the listener. The port may be known only once it is open. */
  readonly origin: () => string;
  readonly logFailure: LogFailure;
}

/** Answers the routes below `/api`, and 404 everywhere else. */
export function consoleApi(api: ConsoleApi): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    schemaController: NO_SCHEMAS,
    serverFactory: frontDoor({ limits: CONNECTION_LIMITS, keepAliveMs: 30_000, onUnanswered: () => {} }),
    clientErrorHandler: (error, socket) => presentUnreadable(error, socket as Socket),
    rewriteUrl: decodableUrl,
  });
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    const refusal = refusalOfSite(request.headers, api.origin());
    if (refusal !== null) return reply.status(403).send({ error: refusal });
  });
  for (const route of api.routes) addRoute(app, api, route);
  app.get('/api/openapi.json', async () => openapiOf(api.routes, api.origin()));
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'not found' }));
  app.setErrorHandler((error, _request, reply) => present(error, reply, api.logFailure));
  return app;
}

function addRoute(app: FastifyInstance, api: ConsoleApi, route: Route): void {
  const { method, path, access, needsFresh, body, query } = route;
  app.route({
    method,
    url: `/api${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    handler: async (request, reply) => {
      const found = await sessionOf(api, request, access);
      if (needsFresh && found.session?.isFresh === false)
        throw new Refusal(403, 'sign in again: this needs a sign-in of the last five minutes');
      const fault =
        (body && faultOfForm(body, request.body, 'body')) ??
        (query && faultOfForm(query, request.query, 'query'));
      if (fault) throw new Refusal(400, fault);
      const call = {
        ...found,
        body: request.body,
        query: request.query,
        params: request.params,
        address: request.ip,
      };
      return send(
        reply,
        await inTime(performance.now() + ANSWER_WITHIN_MS, route.run(call as never)),
        api.origin(),
      );
    },
  });
}

/** A request that is refused, with the text for its sender. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function sessionOf(
  { database, origin }: ConsoleApi,
  { headers }: FastifyRequest,
  access: Access,
): Promise<{ session: BrowserSession | null; sessionKey: SessionKey | null }> {
  const sessionKey = readCookie(cookieOf(headers.cookie, origin()) ?? '');
  const session = sessionKey && (await findSession(database, sessionKey));
  if (access === 'open') return { session, sessionKey };
  if (session === null) throw new Refusal(401, 'sign in first');
  if (access === 'password given') {
    if (session.isWhole) throw new Refusal(403, 'the session has its second factor already');
  } else if (!session.isWhole) {
    throw new Refusal(401, 'the second factor is missing');
  } else if (!mayActAs(session.role, access)) {
    throw new Refusal(403, `this needs the role ${access}`);
  }
  return { session, sessionKey };
}

function send(
  reply: FastifyReply,
  { status = 200, body, cookie, retryAfterSeconds }: Answer<unknown>,
  origin: string,
) {
  if (cookie !== undefined) reply.header('Set-Cookie', cookieHeader(cookie, origin));
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  return reply.status(status).send(body);
}

/** Turns every failure into an answer; an unknown one is the constant 500. */
function present(error: unknown, reply: FastifyReply, logFailure: LogFailure): FastifyReply {
  if (error instanceof Refusal) return reply.status(error.status).send({ error: error.message });
  if (error instanceof BusyError) {
    const wait = { error: 'another sign-in is being checked: try again in a second' };
    return reply.status(429).header('Retry-After', String(BUSY_RETRY_S)).send(wait);
  }
  const { statusCode } = error as { statusCode?: number };
  if (statusCode === 413)
    return reply.status(413).send({ error: `the body is over ${MAX_BODY_BYTES} bytes` });
  if (statusCode === 415)
    return reply.status(415).send({ error: 'the body must be JSON (Content-Type: application/json)' });
  if (statusCode === 400) return reply.status(400).send({ error: 'the body is no valid JSON' });
  logFailure(temporaryTrouble(error) ?? 'a request of the console failed', { error: errorFields(error) });
  return reply.status(500).send({ error: 'temporary internal error; retry' });
}
