/**
 * The partners' listener: what holds for all of its requests before and after their routes, the log of requests, and
 * the list of routes (D1-D3, D22-D24, D37; contract, "Endpoints"). Touches the network and the log.
 */

import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { NamedField } from '../../domain/application/fields.ts';
import type { Outcome } from '../../domain/application/read-application.ts';
import { type Credential, ENVIRONMENTS, type Environment } from '../../domain/partner/credential.ts';
import type { Language } from '../../ground/base/language.ts';
import type { LogFailure } from '../../program/operations/failure-log.ts';
import { tracing } from '../../program/tracing/tracing.ts';
import {
  type ApplicationService,
  getApplication,
} from '../../subjects/applications/routes/get-application.ts';
import { type BatchService, postBatch } from '../../subjects/applications/routes/post-batch.ts';
import {
  type SearchService,
  searchApplications,
} from '../../subjects/applications/routes/search-applications.ts';
import { type FeedService, getEvents } from '../../subjects/events/routes/get-events.ts';
import type { Pace } from '../../subjects/events/uses/partner-events.ts';
import {
  addWhatsAppWebhook,
  WEBHOOK_PATH,
  type WebhookOptions,
} from '../../subjects/messages/routes/whatsapp-webhook.ts';
import { getQuota, type QuotaService, quotaHeaders } from '../../subjects/partners/routes/get-quota.ts';
import type { Authenticate } from '../../subjects/partners/uses/authenticate.ts';
import type { RequestLog } from '../../subjects/partners/uses/request-log.ts';
import { readFeedQuery } from '../../wire/contract/partner-reads.ts';
import { readOwnSearch } from '../../wire/contract/partner-search.ts';
import { checkContentType, RequestError } from '../../wire/contract/request.ts';
import { faultTexts, languageOfHeader, MAX_BODY_BYTES } from '../../wire/contract/texts.ts';
import type { Admission } from '../../wire/gate/admission.ts';
import { readBody } from '../../wire/gate/body.ts';
import { ByteBudget } from '../../wire/gate/byte-budget.ts';
import type { IncomingConnection } from '../../wire/gate/connection.ts';
import type { ListenerLimits } from '../../wire/gate/connections.ts';
import { FeedTurns } from '../../wire/gate/feed-turns.ts';
import { connectionOf, decodableUrl, frontDoor } from '../../wire/gate/front-door.ts';
import { NO_SCHEMAS } from '../../wire/gate/no-schemas.ts';
import { PacedAnswers } from '../../wire/gate/paced-answers.ts';
import { allowHeader, presentUnreadable, SECURITY_HEADERS } from '../../wire/gate/unreadable.ts';
import { checkKey, credentialOf, UNWANTED_BYTES, whenAdmitted } from './admitted-request.ts';
import { notedRequest } from './noted-request.ts';
import { presentError } from './present-error.ts';
import { requestIds } from './request-id.ts';

// The first part: one log line for each request, with its route, its outcomes and its time. Never personal data or a
// key. Requests with a key are noted for whoever looks for one by its id.

/** Gives every request an id, which the answer repeats in a header, and logs the request when it is done. */
function logRequests(app: FastifyInstance, { log, requests, clock }: PartnerApiOptions): void {
  app.setGenReqId(requestIds(clock));
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('X-Request-Id', request.id);
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    log.info(requestLine(request, reply.statusCode, reply.elapsedTime), 'request');
    const { credential } = request;
    if (credential !== null && requests?.hasRoom(credential.partner.id, credential.keyId))
      requests.add(notedRequest(request, reply, credential));
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

// The paths of the partners' interface and the methods that each one takes (D1, D41, D56).

/** Paths of D41, after the base path; they take GET alone. */
const EVENTS_PATH = '/PRO/events';
const APPLICATIONS_PATH = '/PRO/applications';
/** After the path of an environment; it takes POST, and for GET it is an id that no application has. */
const SEARCH_PATH = '/applications/search';

/** True for the path where a person looks first: that of the listener, or the base path. */
function isFrontPage(basePath: string, target: string): boolean {
  const path = pathOf(target);
  return path === '' || path === basePath;
}

function pathOf(target: string): string {
  return target.replace(/\?.*/s, '').replace(/\/$/, '');
}

/** The problem of a request without a route: its method if the path is known, else its path. */
function problemAt(basePath: string, target: string): 'method_not_allowed' | 'only_get' | 'not_found' {
  const whole = pathOf(target);
  if (!whole.startsWith(basePath)) return 'not_found';
  const path = whole.slice(basePath.length);
  const takesBoth = (environment: Environment) =>
    [`/${environment}`, `/${environment}${SEARCH_PATH}`].includes(path);
  if (ENVIRONMENTS.some(takesBoth)) return 'method_not_allowed';
  return path === EVENTS_PATH || isApplication(path) ? 'only_get' : 'not_found';
}

function isApplication(path: string): boolean {
  const id = path.startsWith(`${APPLICATIONS_PATH}/`) ? path.slice(APPLICATIONS_PATH.length + 1) : '';
  return id !== '' && !id.includes('/');
}

interface PartnerApiOptions extends PartnerRoutes {
  readonly log: Logger;
  readonly logFailure: LogFailure;
  /** Where requests with a key are noted; undefined: nowhere. */
  readonly requests?: Pick<RequestLog, 'hasRoom' | 'add'>;
  /** Only with the channel `whatsapp`. */
  readonly webhook?: WebhookOptions | undefined;
  readonly limits: ListenerLimits;
}

declare module 'fastify' {
  interface FastifyRequest {
    credential: Credential | null;
    /** The language of the answer, by the header, key and root name that are read so far (D24). */
    language: Language;
    /** The latest time of the answer, on `Clock.monotonicMs`. */
    deadline: number;
    outcomes: readonly Outcome[] | null;
    problem: string | null;
  }
}

/** The limits of every service. D37 allows 10 s for an answer. */
export const PARTNER_LIMITS: ListenerLimits = {
  connections: { all: 2_048, perAddress: 256 },
  answerWithinMs: 9_000,
};
const KEEP_ALIVE_MS = 65_000;
/** The memory for all large bodies under way. The limit of connections bounds the small bodies. */
const LARGE_BODIES_BYTES = 64 * 1024 * 1024;

/** Makes the partners' listener. The caller opens and closes it. */
export function partnerApi(options: PartnerApiOptions): FastifyInstance {
  const paced = new PacedAnswers(options.clock);
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: false,
    // A longer parameter would get an answer of Fastify itself. The head of a request has a limit anyway.
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: 65_536 },
    // A request on a connection from before the stop still gets its answer.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    schemaController: NO_SCHEMAS,
    serverFactory: frontDoor({
      limits: options.limits.connections,
      clock: options.clock,
      keepAliveMs: KEEP_ALIVE_MS,
      acceptsMany: true,
      onUnanswered: () =>
        options.log.error('a request took too long: its connection was closed without an answer'),
    }),
    clientErrorHandler: (error, socket) => {
      const connection = socket as unknown as IncomingConnection;
      const send = () =>
        presentUnreadable(error, socket as Socket, (target) => problemAt(options.basePath, target));
      // A client that left uses no turn.
      if (!socket.writable) return send();
      connection.stopInput();
      const deadline = (connection.startedAt ?? options.clock.monotonicMs()) + options.limits.answerWithinMs;
      paced.add({ connection, client: connection, deadline, send, makeLast: () => {} });
    },
    rewriteUrl: decodableUrl,
  });
  app.decorateRequest('credential', null);
  app.decorateRequest('language', 'en');
  app.decorateRequest('deadline', 0);
  app.decorateRequest('outcomes', null);
  app.decorateRequest('problem', null);

  // The body stays bytes for every content type, because the key is checked before the content type.
  app.removeAllContentTypeParsers();
  const budget = new ByteBudget(LARGE_BODIES_BYTES, options.clock);
  app.addContentTypeParser('*', (request: FastifyRequest) =>
    readBody(request.raw, { limit: request.routeOptions.bodyLimit, budget, ...shareOf(request) }),
  );
  logRequests(app, options);
  app.setErrorHandler((error, request, reply) => presentError(error, request, reply, options));
  addHooks(app, options, paced);
  addPartnerRoutes(app, options);
  const { basePath, webhook, log } = options;
  if (webhook !== undefined) addWhatsAppWebhook(app, basePath, webhook, log);
  return app;
}

/**
 * The hooks of all routes. Hooks that wait for nothing use `done`, because a promise costs a turn of the microtasks.
 */
function addHooks(
  app: FastifyInstance,
  { basePath, clock, limits: { answerWithinMs } }: PartnerApiOptions,
  paced: PacedAnswers,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { startedAt } = connectionOf(request.raw);
    request.deadline = (startedAt ?? clock.monotonicMs()) + answerWithinMs;
    reply.headers(SECURITY_HEADERS);
    request.language = languageOfHeader(request.headers['accept-language']);
    // Refuses before the handler, because a handler runs only after the whole body.
    if (request.is404) refuseUnknown(basePath, request, reply);
    done();
  });

  app.addHook('preClose', (done) => {
    paced.end();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const send = () => done(null, payload);
    if (!isAnonymous(request, reply)) send();
    else {
      const makeLast = () => void reply.header('Connection', 'close');
      const connection = connectionOf(request.raw);
      paced.add({ connection, client: reply.raw, deadline: request.deadline, send, makeLast });
    }
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (connectionOf(request.raw).unread > UNWANTED_BYTES) reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** True for an answer that anybody can ask for, without a valid key and without the webhook's secret. */
function isAnonymous({ credential, routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  const isSigned = statusCode === 200 && routeOptions.url?.endsWith(WEBHOOK_PATH) === true;
  return credential === null && statusCode < 500 && !isSigned;
}

function refuseUnknown(basePath: string, request: FastifyRequest, reply: FastifyReply): never {
  const problem = isFrontPage(basePath, request.url) ? 'no_page' : problemAt(basePath, request.url);
  reply.headers(allowHeader(problem));
  throw new RequestError(problem);
}

/** The share of the budget for a request, so that neither a partner nor the webhook's caller can use all of it. */
function shareOf({ credential }: FastifyRequest) {
  return credential === null
    ? { owner: 'webhook', share: 1 / 4 }
    : { owner: `partner ${credential.partner.id}`, share: 1 / 2 };
}

// The routes of partners: `/PRO`, `/DEV` and what is under `/PRO` (contract, "Endpoints"; D36, D41).

/** What the routes need. */
interface PartnerRoutes
  extends Omit<BatchService, 'quotaHeaders'>,
    QuotaService,
    FeedService,
    ApplicationService,
    SearchService {
  /** `{base_url}`'s path: empty, or a path that begins with a slash and does not end with one. */
  readonly basePath: string;
  readonly fields: readonly NamedField[];
  readonly authenticate: Authenticate;
  readonly admission: Admission;
}

/** Adds all routes of partners to their listener. */
function addPartnerRoutes(app: FastifyInstance, routes: PartnerRoutes): void {
  const turns = new FeedTurns(routes.clock);
  addBatches(app, routes);
  addReads(app, routes, turns);
  for (const environment of ENVIRONMENTS) addSearch(app, environment, routes, turns);
}

/** The routes of both environments: the quota for GET, a batch for POST. */
function addBatches(app: FastifyInstance, routes: PartnerRoutes): void {
  const faultText = faultTexts(routes.fields);
  const batches: BatchService = {
    ingest: routes.ingest,
    quotaHeaders: (credential, deadline) => quotaHeaders(routes, credential, deadline),
  };
  for (const environment of ENVIRONMENTS) {
    const path = `${routes.basePath}/${environment}`;
    const onRequest = checkKey(routes, environment);
    app.get(path, { onRequest }, (request, reply) =>
      whenAdmitted(routes.admission, request, (credential) =>
        getQuota(routes, environment, credential, request, reply),
      ),
    );
    app.post(path, { onRequest }, (request, reply) =>
      whenAdmitted(routes.admission, request, (credential) =>
        postBatch(batches, faultText, environment, credential, request, reply),
      ),
    );
  }
}

/** The routes of D41: under PRO alone, for GET alone. */
function addReads(app: FastifyInstance, routes: PartnerRoutes, turns: FeedTurns): void {
  const { basePath, admission } = routes;
  const onRequest = checkKey(routes, 'PRO');
  app.get<{ Querystring: Record<string, unknown> }>(
    `${basePath}${EVENTS_PATH}`,
    { onRequest },
    async (request, reply) => {
      const query = readFeedQuery(request.query);
      const work = (credential: Credential, pace: Pace) =>
        getEvents(routes, query, { credential, pace }, request, reply);
      const { partner } = credentialOf(request);
      return turns.during(partner.id, () => whenAdmitted(admission, request, work, query.limit));
    },
  );
  app.get<{ Params: { id: string } }>(
    `${basePath}${APPLICATIONS_PATH}/:id`,
    { onRequest },
    (request, reply) =>
      whenAdmitted(admission, request, (credential) =>
        getApplication(routes, request.params.id, credential, request, reply),
      ),
  );
}

/** The search of D56. `turns`: one page of a partner at a time, of the feed or of a search. */
function addSearch(
  app: FastifyInstance,
  environment: Environment,
  routes: PartnerRoutes,
  turns: FeedTurns,
): void {
  const path = `${routes.basePath}/${environment}${SEARCH_PATH}`;
  const onRequest = checkKey(routes, environment);
  app.post(path, { onRequest }, async (request, reply) => {
    checkContentType(request.headers['content-type']);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const search = readOwnSearch(body, request.headers['content-encoding']);
    const work = (credential: Credential, pace: Pace) =>
      searchApplications(routes, environment, search, { credential, pace }, request, reply);
    const { partner } = credentialOf(request);
    return turns.during(partner.id, () => whenAdmitted(routes.admission, request, work, search.limit));
  });
  // `/PRO` has the route of one application there.
  if (environment === 'DEV')
    app.get(path, { onRequest }, () => {
      throw new RequestError('not_found');
    });
}
