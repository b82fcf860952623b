/**
 * A listener for browsers: the operators' console, or the portal of partners. Checks the site, the session, the role
 * and the form of every request, and answers routes below `/api` and the page. Touches the network; the routes touch
 * the rest. docs/operators.md ("The operator API") has the rule.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { SandboxFailure } from '../../domain/application/sandbox.ts';
import { mayActAs } from '../../domain/operator/authority.ts';
import type { BrowserSession, SessionKey, Whose } from '../../domain/operator/session.ts';
import { browserOf } from '../../domain/operator/session-origin.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { errorFields } from '../../ground/base/describe-error.ts';
import { isLoopback } from '../../ground/base/loopback.ts';
import { OverloadError, UnavailableError } from '../../ground/base/registration-failure.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { type LogFailure, temporaryTrouble } from '../../program/operations/failure-log.ts';
import type { Vault } from '../../seal/vault.ts';
import { findSession } from '../../subjects/operators/sql/sessions.ts';
import { BusyError } from '../../subjects/operators/uses/password-hash.ts';
import { readCookie } from '../../subjects/operators/uses/tokens.ts';
import { ByteBudget } from '../../wire/gate/byte-budget.ts';
import { addressGroup, type ListenerLimits } from '../../wire/gate/connections.ts';
import { connectionOf, decodableUrl, frontDoor } from '../../wire/gate/front-door.ts';
import { inTime } from '../../wire/gate/in-time.ts';
import { NO_SCHEMAS } from '../../wire/gate/no-schemas.ts';
import { presentUnreadable, SECURITY_HEADERS } from '../../wire/gate/unreadable.ts';
import {
  ACTIVE_HEADER,
  type Access,
  type Answer,
  type Call,
  type Failure,
  type Needs,
  OPERATOR_HEADER,
  type Route,
} from '../../wire/operator/route.ts';
import { cookieHeader, cookieOf, type Site } from './cookie.ts';
import { openapiOf } from './openapi.ts';
import { addPage, PAGE_ROUTE, type Page } from './page.ts';

// Refuses requests that a page of another site makes a browser send, also to routes that only read. The setting says
// which site is ours, and never a header of the request. So a foreign name that leads to this machine gains nothing
// (DNS rebinding).

/** Why a request is refused; null: it is not. A program that is not a browser sends none of these headers. */
function refusalOfSite(headers: IncomingHttpHeaders, origin: string): string | null {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `the request comes from another site: open ${origin}`;
  }
  if (headers.origin !== undefined && headers.origin !== origin) {
    return `the request comes from another site: open ${origin}`;
  }
  return null;
}

/**
 * Whether a browser asks for the page of `localhost` by an address of this machine. A page that is opened so would
 * send its requests as another site.
 */
function isByAddress({ host = '' }: IncomingHttpHeaders, origin: string): boolean {
  const own = new URL(origin);
  if (own.hostname !== 'localhost' || host === own.host || !URL.canParse(`http://${host}`)) return false;
  const asked = new URL(`http://${host}`);
  return isLoopback(asked.hostname) && asked.port === own.port;
}

// The numbers of a query arrive as texts.

const NUMBER = /^-?\d{1,15}(\.\d{1,9})?$/;

/**
 * The query, in which each decimal text becomes a number if the form wants a number there. Any other text stays, and
 * `faultOfForm` then names it.
 */
function withNumbers(form: TSchema, query: unknown): unknown {
  const { properties = {} } = form as { properties?: Readonly<Record<string, { type?: unknown }>> };
  const read = (name: string, value: unknown) => {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : null;
    const isNumber =
      (type === 'integer' || type === 'number') && typeof value === 'string' && NUMBER.test(value);
    return isNumber ? Number(value) : value;
  };
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => [name, read(name, value)]),
  );
}

// What is wrong with a body or a query, in words: the name of the field and the rule.

const LONGEST_NAME = 60;

/** null: the value has the form. The text repeats no part of the value. */
function faultOfForm(schema: TSchema, value: unknown, what: 'body' | 'query'): string | null {
  if (Value.Check(schema, value)) return null;
  const errors = Value.Errors(schema, value);
  // About an unknown field the library says only that no value fits it.
  const unknown = errors.find(({ keyword }) => keyword === 'boolean');
  if (unknown !== undefined) return `${what}: ${nameAt(unknown.instancePath)} is no field of it`;
  const [{ instancePath, message } = { instancePath: '', message: 'has another form' }] = errors;
  const name = nameAt(instancePath);
  return name === '' ? `the ${what} ${message}` : `${what}: ${name} ${message}`;
}

function nameAt(path: string): string {
  return path.replaceAll('/', '.').replace(/^\./, '').slice(0, LONGEST_NAME);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isCallback?: boolean;
  }
}

const MAX_BODY_BYTES = 65_536;
/** The memory that all larger bodies of a listener share, and the most of it for one account. */
const LARGE_BODIES_BYTES = 48 * 1_048_576;
const SHARE_OF_ACCOUNT = 1 / 3;
const BUSY_RETRY_S = 1;
/**
 * A year. A browser that has been here once then uses TLS alone (RFC 6797). Without subdomains, because they are not
 * ours.
 */
const STRICT_TRANSPORT = 'max-age=31536000';
const PAGE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** The limits of every listener for browsers. */
export const BROWSER_LIMITS: ListenerLimits = {
  connections: { all: 512, perAddress: 128 },
  answerWithinMs: 9_000,
};

/** What the listener needs. */
export interface BrowserApi {
  /** Whose accounts sign in here. Sessions of the others are none. */
  readonly whose: Whose;
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly routes: readonly Route[];
  /** The origin under which browsers reach the listener. The port may be known only once it is open. */
  readonly origin: () => string;
  /** The built page; null: there is none. */
  readonly page: Promise<Page | null>;
  readonly logFailure: LogFailure;
  /** The addresses of proxies whose `X-Forwarded-For` is believed; none by default. */
  readonly proxies?: readonly string[];
}

/** Answers the routes below `/api`, and with the page everywhere else. */
export function browserApi(api: BrowserApi, limits = BROWSER_LIMITS): FastifyInstance {
  const { clock } = api;
  const app = fastify({
    forceCloseConnections: true,
    // The last address that is not one of these proxies. Anybody can have made up the addresses before it.
    trustProxy: [...(api.proxies ?? [])],
    bodyLimit: MAX_BODY_BYTES,
    schemaController: NO_SCHEMAS,
    serverFactory: frontDoor({
      limits: limits.connections,
      clock,
      keepAliveMs: 30_000,
      onUnanswered: () => {},
    }),
    clientErrorHandler: (error, socket) => presentUnreadable(error, socket as Socket),
    rewriteUrl: decodableUrl,
  });
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', async (request, reply) => {
    const origin = api.origin();
    reply.headers(SECURITY_HEADERS);
    if (origin.startsWith('https:')) reply.header('Strict-Transport-Security', STRICT_TRANSPORT);
    if (isLink(request)) {
      if (!isByAddress(request.headers, origin) || !request.url.startsWith('/')) return;
      return reply
        .header('Location', origin + request.url)
        .status(307)
        .send();
    }
    const refusal = refusalOfSite(request.headers, origin);
    if (refusal !== null) return reply.status(403).send({ error: refusal });
  });
  const largeBodies = new ByteBudget(LARGE_BODIES_BYTES, clock);
  for (const route of api.routes) addRoute(app, api, route, { ...limits, largeBodies });
  app.get('/api/openapi.json', async () => openapiOf(api.routes, siteOf(api)));
  addPage(app, () => inTime(clock, clock.monotonicMs() + limits.answerWithinMs, api.page));
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'not found' }));
  app.setErrorHandler((error, { routeOptions }, reply) =>
    present(error, reply, routeOptions.bodyLimit, api.logFailure),
  );
  return app;
}

/**
 * Whether somebody follows a link to the page, maybe from another site, or comes back from the identity provider. The
 * route decides, not the text of the path, because a path has many spellings.
 */
function isLink({ routeOptions, headers }: FastifyRequest): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  const isOpen = routeOptions.url === PAGE_ROUTE || routeOptions.config.isCallback === true;
  return isOpen && isNavigation && headers.origin === undefined;
}

interface RouteLimits {
  readonly answerWithinMs: number;
  readonly largeBodies: ByteBudget;
}

function addRoute(
  app: FastifyInstance,
  api: BrowserApi,
  route: Route,
  { answerWithinMs, largeBodies }: RouteLimits,
): void {
  const { method, path, access, needsFresh, isCallback = false, maxBodyBytes, bytes, body, query } = route;
  const add = (to: FastifyInstance) =>
    to.route({
      method,
      url: `/api${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      config: { isCallback },
      ...(maxBodyBytes !== undefined && {
        bodyLimit: maxBodyBytes,
        preParsing: (request, reply) =>
          admitLargeBody(api, request, reply, { access, maxBodyBytes, largeBodies }),
      }),
      handler: async (request, reply) => {
        const found = await sessionOf(api, request, access);
        if (needsFresh === true && found.session?.isFresh === false)
          throw new RefusedRequest(
            403,
            'sign in again: this needs a sign-in of the last five minutes',
            'sign-in',
          );
        const given = query ? withNumbers(query, request.query) : request.query;
        const fault =
          (body && faultOfForm(body, request.body, 'body')) ?? (query && faultOfForm(query, given, 'query'));
        if (fault) throw new RefusedRequest(400, fault);
        const { startedAt } = connectionOf(request.raw);
        const deadline = (startedAt ?? api.clock.monotonicMs()) + answerWithinMs;
        const call = {
          ...found,
          body: request.body,
          query: given,
          params: request.params,
          pendingCookie: cookieOf('pending sign-in', request.headers.cookie, siteOf(api)),
          deviceCookie: cookieOf('device', request.headers.cookie, siteOf(api)),
          // Somebody with one address of IPv6 has a whole /64.
          address: addressGroup(request.ip) ?? request.ip,
          browser: browserOf(request.headers['user-agent']),
          ...conditionsOf(request),
          sent: { headers: request.headers, deadline, isGone: () => request.raw.socket.destroyed },
        };
        return send(reply, await inTime(api.clock, deadline, route.run(call as never)), siteOf(api));
      },
    });
  if (bytes === undefined) add(app);
  // In a scope of its own, because all other routes take JSON.
  else
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, sent, done) => done(null, sent));
      add(scope);
    });
}

/** Refuses a large body of whoever may not use the route before it is read, and takes its bytes from the budget. */
async function admitLargeBody(
  api: BrowserApi,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    access,
    maxBodyBytes,
    largeBodies,
  }: { readonly access: Access; readonly maxBodyBytes: number; readonly largeBodies: ByteBudget },
): Promise<void> {
  const { session } = await sessionOf(api, request, access);
  const told = Number(request.headers['content-length'] ?? maxBodyBytes);
  const grant = await largeBodies.reserve({
    owner: `${session?.operatorId}`,
    share: SHARE_OF_ACCOUNT,
    // A longer one is answered with 413, and not read.
    bytes: Math.min(told, maxBodyBytes),
    giveUp: () => request.raw.destroy(),
  });
  if (reply.raw.destroyed) return grant.giveBack();
  request.raw.once('end', () => grant.whole());
  reply.raw.once('close', () => grant.giveBack());
}

/** What a request says about the state that it knows, its repetitions and its page. */
function conditionsOf({
  headers,
}: FastifyRequest): Pick<Call<never, never>, 'knownTags' | 'decidedOn' | 'idempotencyKey' | 'page'> {
  const decidedOn = tagsOf(headers['if-match']);
  const key = headers['idempotency-key'];
  if (key !== undefined && !IDEMPOTENCY_KEY.test(`${key}`))
    throw new RefusedRequest(400, 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  const page = headers['operator-page'];
  if (page !== undefined && !PAGE.test(`${page}`))
    throw new RefusedRequest(400, 'Operator-Page must be a UUID');
  return {
    knownTags: tagsOf(headers['if-none-match']),
    decidedOn: decidedOn.length === 1 ? decidedOn[0]! : null,
    idempotencyKey: key === undefined ? null : `${key}`,
    page: page === undefined ? null : `${page}`,
  };
}

/** A request that is refused, with the text for its sender. */
class RefusedRequest extends Error {
  readonly status: number;
  readonly body: Failure;

  constructor(status: number, error: string, needs?: Needs) {
    super(error);
    this.status = status;
    this.body = needs === undefined ? { error } : { error, needs };
  }
}

async function sessionOf(
  api: BrowserApi,
  request: FastifyRequest,
  access: Access,
): Promise<{ session: BrowserSession | null; sessionKey: SessionKey | null }> {
  const { database, vault, whose } = api;
  const { headers } = request;
  const sessionKey = readCookie(cookieOf('session', headers.cookie, siteOf(api)) ?? '');
  const session =
    sessionKey && (await findSession(database, vault, sessionKey, { whose, isUse: isOfSomebody(request) }));
  const shown = headers[OPERATOR_HEADER.toLowerCase()];
  if (session !== null && shown !== undefined && shown !== String(session.operatorId))
    throw new RefusedRequest(401, 'the session is of another operator');
  if (access === 'open') return { session, sessionKey };
  if (session === null) throw new RefusedRequest(401, 'sign in first');
  if (access === 'first factor') {
    if (session.isWhole) throw new RefusedRequest(403, 'the session has its second factor already');
  } else if (!session.isWhole) {
    throw new RefusedRequest(401, 'the second factor is missing', 'code');
  } else if (!mayActAs(session.role, access)) {
    throw new RefusedRequest(403, `this needs the role ${access}`);
  }
  return { session, sessionKey };
}

function siteOf({ whose, origin }: BrowserApi): Site {
  return { whose, origin: origin() };
}

/** Whether a person caused the request, and not the page by itself. */
function isOfSomebody({ method, headers }: FastifyRequest): boolean {
  const active = headers[ACTIVE_HEADER.toLowerCase()];
  return active === undefined ? method !== 'GET' : active === 'true';
}

function send(
  reply: FastifyReply,
  {
    status = 200,
    body,
    tag,
    cookie,
    pendingCookie,
    deviceCookie,
    redirect,
    retryAfterSeconds,
    headers = {},
  }: Answer<unknown>,
  site: Site,
) {
  if (tag !== undefined) reply.header('ETag', `"${tag}"`);
  if (cookie !== undefined) reply.header('Set-Cookie', cookieHeader('session', cookie, site));
  if (pendingCookie !== undefined) {
    reply.header('Set-Cookie', cookieHeader('pending sign-in', pendingCookie, site));
  }
  if (deviceCookie !== undefined) reply.header('Set-Cookie', cookieHeader('device', deviceCookie, site));
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds));
  reply.headers(headers);
  if (redirect !== undefined)
    return reply
      .header('Location', site.origin + redirect)
      .status(303)
      .send();
  return body === null ? reply.status(status).send() : reply.status(status).send(body);
}

/** A proxy that compresses makes a tag weak. For a read it is still the same tag. */
function tagsOf(header: string | undefined): string[] {
  return [...(header ?? '').matchAll(/"([^"]*)"/g)].map(([, tag]) => tag!);
}

/** Turns every failure into an answer; an unknown one is the constant 500. */
function present(
  error: unknown,
  reply: FastifyReply,
  bodyLimit: number | undefined,
  logFailure: LogFailure,
): FastifyReply {
  if (error instanceof RefusedRequest) return reply.status(error.status).send(error.body);
  if (error instanceof BusyError) {
    const wait = { error: 'another sign-in is being checked: try again in a second' };
    return reply.status(429).header('Retry-After', String(BUSY_RETRY_S)).send(wait);
  }
  const { statusCode } = error as { statusCode?: number };
  if (statusCode === 413) return reply.status(413).send({ error: `the body is over ${bodyLimit} bytes` });
  if (statusCode === 415)
    return reply.status(415).send({ error: 'the body must be JSON (Content-Type: application/json)' });
  if (statusCode === 400) return reply.status(400).send({ error: 'the body is no valid JSON' });
  if (error instanceof UnavailableError) reply.header('Retry-After', String(error.retryAfterSeconds));
  // An overload is logged where it is found, and the sandbox fails because somebody asked for it.
  if (!(error instanceof OverloadError || error instanceof SandboxFailure))
    logFailure(temporaryTrouble(error) ?? 'a request of a browser failed', { error: errorFields(error) });
  return reply.status(500).send({ error: 'temporary internal error; retry' });
}
