/** The routes of partners: `/PRO`, `/DEV` and what is under `/PRO` (contract, "Endpoints"; D36, D41). */
import type { FastifyInstance } from 'fastify';
import type { NamedField } from '../../domain/application/fields.ts';
import { type Credential, ENVIRONMENTS } from '../../domain/partner/credential.ts';
import {
  type ApplicationService,
  getApplication,
} from '../../subjects/applications/routes/get-application.ts';
import { type BatchService, postBatch } from '../../subjects/applications/routes/post-batch.ts';
import { type FeedService, getEvents } from '../../subjects/events/routes/get-events.ts';
import type { Pace } from '../../subjects/events/uses/partner-events.ts';
import { getQuota, type QuotaService } from '../../subjects/partners/routes/get-quota.ts';
import type { Authenticate } from '../../subjects/partners/uses/authenticate.ts';
import { readFeedQuery } from '../../wire/contract/partner-reads.ts';
import { faultTexts } from '../../wire/contract/texts.ts';
import type { Admission } from '../../wire/gate/admission.ts';
import { FeedTurns } from '../../wire/gate/feed-turns.ts';
import { checkKey, credentialOf, whenAdmitted } from './admitted-request.ts';
import { APPLICATIONS_PATH, EVENTS_PATH } from './partner-paths.ts';

/** What the routes need. */
export interface PartnerRoutes extends BatchService, QuotaService, FeedService, ApplicationService {
  /** `{base_url}`'s path: empty, or a path that begins with a slash and does not end with one. */
  readonly basePath: string;
  readonly fields: readonly NamedField[];
  readonly authenticate: Authenticate;
  readonly admission: Admission;
}

/** Adds all routes of partners to their listener. */
export function addPartnerRoutes(app: FastifyInstance, routes: PartnerRoutes): void {
  addBatches(app, routes);
  addReads(app, routes);
}

/** The routes of both environments: the quota for GET, a batch for POST. */
function addBatches(app: FastifyInstance, routes: PartnerRoutes): void {
  const faultText = faultTexts(routes.fields);
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
        postBatch(routes, faultText, environment, credential, request, reply),
      ),
    );
  }
}

/** The routes of D41: under PRO alone, for GET alone. */
function addReads(app: FastifyInstance, routes: PartnerRoutes): void {
  const { basePath, admission } = routes;
  const onRequest = checkKey(routes, 'PRO');
  const turns = new FeedTurns(routes.clock);
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
