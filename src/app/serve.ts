/**
 * The `serve` role: connects all parts, opens the listeners, and stops the parts in order (ARCHITECTURE, "The house",
 * "A process's life"). Touches the network, the store and the clock.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { namedFields } from '../domain/application/fields.ts';
import type { Outcome } from '../domain/application/read-application.ts';
import type { Credential, KeyId } from '../domain/partner/credential.ts';
import type { Clock } from '../ground/base/clock.ts';
import { isLoopback } from '../ground/base/loopback.ts';
import { isSpread } from '../ground/schema/distribution.ts';
import { addDocs, type DocsOptions } from '../listeners/docs-page/page.ts';
import { healthApi } from '../listeners/ops/health-api.ts';
import { PARTNER_LIMITS, partnerApi } from '../listeners/partner/partner-api.ts';
import { requestIds } from '../listeners/partner/request-id.ts';
import { failureLog, workFailureLog } from '../program/operations/failure-log.ts';
import type { ServiceContext } from '../program/subject/subject.ts';
import type { Watcher } from '../program/subject/watcher.ts';
import { tracing } from '../program/tracing/tracing.ts';
import type { BatchIntake } from '../subjects/applications/routes/portal.ts';
import { RefusedReceipts } from '../subjects/applications/sql/refused-receipts.ts';
import { type AroundStatement, Registrar } from '../subjects/applications/sql/registration.ts';
import { ingestBatch } from '../subjects/applications/uses/ingest-batch.ts';
import { partnerApplication } from '../subjects/applications/uses/partner-application.ts';
import { partnerSearch } from '../subjects/applications/uses/partner-search.ts';
import { partnerFeed } from '../subjects/events/uses/partner-events.ts';
import { readWhatsAppEvents } from '../subjects/messages/channels/whatsapp-events.ts';
import { ChannelEventIntake } from '../subjects/messages/intake/channel-event-intake.ts';
import type { WebhookOptions } from '../subjects/messages/routes/whatsapp-webhook.ts';
import { type QuotaService, quotaHeaders } from '../subjects/partners/routes/get-quota.ts';
import { Credentials } from '../subjects/partners/sql/credentials.ts';
import { authenticator } from '../subjects/partners/uses/authenticate.ts';
import { KeyOutcomeCounter } from '../subjects/partners/uses/key-outcome-counter.ts';
import { quotaStatus } from '../subjects/partners/uses/quota-status.ts';
import { RequestLog } from '../subjects/partners/uses/request-log.ts';
import { LivePolicy } from '../subjects/policies/uses/live-policy.ts';
import { Admission } from '../wire/gate/admission.ts';
import type { ListenerLimits } from '../wire/gate/connections.ts';
import { startBackground } from './background.ts';
import { type FoundPage, NO_PAGE } from './built-page.ts';
import type { ChannelPage } from './channel.ts';
import type { Config } from './config/config.ts';
import { loadHearing } from './hearing.ts';
import { stopInOrder } from './lifetime.ts';
import { startHealth } from './listeners/health.ts';
import { type Listener, listen, portOf, urlOf } from './listeners/listen.ts';
import type { BrowserListener } from './listeners/noted.ts';
import { startOperatorListener } from './listeners/operator-listener.ts';
import { startPortalListener } from './listeners/portal-listener.ts';
import type { OpenStore, Store } from './open-store.ts';
import { readiness } from './readiness.ts';
import { loadServices } from './subjects.ts';
import { showWatch, startWatch, watchListener } from './watch.ts';

/** A service that runs in this process. */
export interface RunningService {
  /** `http://host:port` with the base path. */
  readonly url: string;
  readonly opsUrl: string;
  /** The page that shows the messages of the simulator; null if this process does not run a simulator. */
  readonly simulatorUrl: string | null;
  /** The origin of the operators' console; null if this process has none. */
  readonly consoleUrl: string | null;
  /** The origin of the partners' portal; null if this process has none. */
  readonly portalUrl: string | null;
  /** Stops the sends, answers the requests under way, refuses new requests, and ends. The store stays open. */
  stop(sinceMs?: number): Promise<boolean>;
}

/** The time limit of each step of the stop, in milliseconds since the stop signal. */
const STOP_BY_MS = { sending: 800, requests: 4_700, background: 5_500, operators: 5_700 } as const;
/** Requests without an answer after this time are cut off. */
const DRAIN_WITHIN_MS = 3_500;

/** What a caller may give to a service. */
interface ServiceParts {
  readonly consolePage?: Promise<FoundPage>;
  readonly portalPage?: Promise<FoundPage>;
  readonly limits?: ListenerLimits;
}

/** Listens on all ports. Throws if the policy is refused or a port is taken. */
export async function startService(
  config: Config,
  store: Store & Pick<OpenStore, 'patience' | 'place'>,
  log: Logger,
  {
    consolePage = Promise.resolve(NO_PAGE),
    portalPage = Promise.resolve(NO_PAGE),
    limits = PARTNER_LIMITS,
  }: ServiceParts = {},
): Promise<RunningService> {
  const { database, vault, clock, patience } = store;
  const watcher = await startWatch(config, store);
  const policies = await patience.run(() =>
    LivePolicy.open({ database, vault, clock, log }, config.policyFile),
  );
  const { registrar, atWork } = await openRegistrar(store, watcher);
  const fields = namedFields(config.consentChannel);
  // The requests and all work of the process share one log of failures, so a failure that all of them meet is one line.
  const logFailure = failureLog(log, clock);
  const failed = workFailureLog(logFailure);
  const { keyOutcomes, requests, stopCounts, counted } = requestCounts(store, log, failed, watcher);
  const admission = admissionOf(atWork, { log, clock, watcher });
  const ingest = { fields, policies, vault, registrar, database, ...counted };
  const intake = intakeOf(store, ingest, { admission, requests });
  const partner = partnerApi({
    ...intake,
    basePath: config.basePath,
    clock,
    log,
    logFailure,
    authenticate: authenticator(vault, new Credentials(database, vault), (id) => keyOutcomes.refused(id)),
    feed: (partnerId, query, pace) => partnerFeed(store, partnerId, query, pace),
    application: (partnerId, id) => partnerApplication(store, partnerId, id),
    search: (partnerId, search, pace) => partnerSearch(store, partnerId, search, pace),
    webhook: await webhookOf(config, store, { log, watcher }),
    limits,
  });
  watchListener(partner, watcher);
  const background = await startBackground(config, store, { log, failed, watcher }, config.delivery).catch(
    async (error) => {
      await keyOutcomes.stop();
      throw error;
    },
  );
  let stopping = false;
  const isReady = readiness(store, log);
  const health = { alive: () => true, ready: async () => !stopping && (await isReady()) };
  const ops = healthApi(health, clock);
  const { page } = background;
  page?.add(ops, (hostname) => `http://${hostname}:${portOf(partner)}${config.basePath}/docs`);
  ops.get('/', (_request, reply) => reply.redirect(page?.path ?? '/readyz'));
  addDocs(partner, await documented(config, fields, policies, wayTo(page, config, ops)));
  const listeners: Listener[] = [];
  let consoleListener: BrowserListener;
  let portal: BrowserListener;
  try {
    listeners.push(await showWatch(config, { log, clock, watcher }, health, ops));
    await listen(partner, ['HOST', config.host], ['PORT', config.port]);
    await listen(ops, ['OPS_HOST', config.opsHost], ['OPS_PORT', config.opsPort]);
    listeners.push(await startHealth(config, log, clock, health));
    const around = { log, logFailure, watcher };
    consoleListener = await startOperatorListener(config, store, { ...around, page: consolePage });
    listeners.push(consoleListener);
    portal = await startPortalListener(config, store, { ...around, page: portalPage }, intake);
  } catch (error) {
    // A listener that stays open would keep the process alive.
    const opened = [partner, ops, ...listeners].map((listener) => listener.close());
    await Promise.all([...opened, background.stop(), keyOutcomes.stop()]);
    throw error;
  }
  const endRequests = () => Promise.all([drain(partner, clock), portal.close()]);
  const endBackground = () => Promise.all([background.stop(), stopCounts()]);
  const closeOperators = () => Promise.all([ops, ...listeners].map((listener) => listener.close()));
  return {
    url: urlOf(partner) + config.basePath,
    opsUrl: urlOf(ops),
    simulatorUrl: page && urlOf(ops) + page.path,
    consoleUrl: consoleListener.origin,
    portalUrl: portal.origin,
    stop: (sinceMs = clock.monotonicMs()) => {
      stopping = true;
      return stopInOrder(log, clock, sinceMs, [
        { name: 'sending', byMs: STOP_BY_MS.sending, run: () => background.stopSending() },
        { name: 'requests', byMs: STOP_BY_MS.requests, run: endRequests },
        { name: 'background', byMs: STOP_BY_MS.background, run: endBackground },
        { name: 'operators', byMs: STOP_BY_MS.operators, run: closeOperators },
      ]);
    },
  };
}

/** What both listeners that take batches share, with the quota of a key. */
function intakeOf(
  { database, clock }: Store,
  ingest: Parameters<typeof ingestBatch>[0],
  parts: Pick<BatchIntake, 'requests' | 'admission'>,
): BatchIntake & Pick<QuotaService, 'quota'> {
  const quota = ({ partner, dailyCap }: Credential) => quotaStatus(database, partner.id, dailyCap);
  return {
    ...parts,
    quota,
    fields: ingest.fields,
    ingest: (request) => ingestBatch(ingest, request),
    quotaHeaders: (credential, deadline) => quotaHeaders({ clock, quota }, credential, deadline),
    newRequestId: requestIds(clock),
  };
}

/** What `/docs` tells about this service. */
async function documented(
  { basePath }: Config,
  fields: DocsOptions['fields'],
  policies: LivePolicy,
  simulatorUrl: Required<DocsOptions>['simulatorUrl'],
): Promise<DocsOptions> {
  const webhooks = Object.assign({}, ...(await loadServices()).map((service) => service.webhooks));
  const bands = () => policies.now.card.document.decision;
  return { basePath, fields, bands, webhooks, simulatorUrl };
}

/**
 * The URL of the channel's page for readers of the documentation, by the hostname of a request; null if none of them
 * could open the page.
 */
function wayTo(page: ChannelPage | null, { host }: Config, ops: FastifyInstance) {
  if (page === null || !isLoopback(host)) return null;
  return (hostname: string) => `http://${hostname}:${portOf(ops)}${page.path}`;
}

function admissionOf(
  limit: number,
  { log, clock, watcher }: { log: Logger; clock: Clock; watcher: Watcher },
): Admission {
  const admission = new Admission({
    limit,
    clock,
    tell: (refused) => {
      watcher.refused(refused);
      log.warn({ refused: Object.fromEntries(refused) }, 'overload: requests refused, by partner');
    },
  });
  watcher.showLoad(() => admission.load());
  return admission;
}

/**
 * What operators learn about requests: which ones came (docs/operators.md, "Requests"), and the number of refusals by
 * key (docs/refusals.md). Of remembered refusals only the newest stay (D36).
 */
function requestCounts(
  { database, clock }: Store,
  log: Logger,
  failed: ServiceContext['failed'],
  watcher: Watcher,
) {
  const requests = new RequestLog(database, {
    clock,
    onLeftOut: (left) => watcher.leftOut(left),
    onError: (error) => failed('the notes of requests', error),
  });
  const keyOutcomes = new KeyOutcomeCounter(database, {
    clock,
    onSweep: ({ keyId, hour, registered, duplicate, over_quota }) =>
      log.warn(
        { key_id: keyId, hour, registered, duplicate, over_quota },
        'the refusals of this key look like a sweep of phones',
      ),
    onError: (error) => failed('the count of refusals by key', error),
  });
  const refusedReceipts = new RefusedReceipts(database, {
    onForgotten: (keyId, receipts) => keyOutcomes.forgotten(keyId, receipts),
    onError: (error) => failed('the bound of remembered refusals', error),
  });
  const counted = {
    onAnswered: (keyId: KeyId, outcomes: readonly Outcome[]) => keyOutcomes.answered(keyId, outcomes),
    onRemembered: (keyId: KeyId) => {
      keyOutcomes.remembered(keyId);
      refusedReceipts.added(keyId);
    },
  };
  const stopCounts = async () => {
    await refusedReceipts.settled();
    await Promise.all([keyOutcomes.stop(), requests.stop()]);
  };
  return { keyOutcomes, requests, stopCounts, counted };
}

async function drain(partner: FastifyInstance, clock: Clock): Promise<void> {
  // `close` ends Node's time limit for requests, so a slow body could delay the stop for ever.
  const enough = clock.after(DRAIN_WITHIN_MS, () => partner.server.closeAllConnections());
  await partner.close();
  enough.cancel();
}

async function webhookOf(
  { whatsapp, setting }: Config,
  { database: shared, webhookDatabase: database = shared, vault, clock }: Store,
  { log, watcher }: { log: Logger; watcher: Watcher },
): Promise<WebhookOptions | undefined> {
  if (whatsapp === null) return undefined;
  const { appSecret, verifyToken, phoneNumberId } = whatsapp;
  const hear = await loadHearing({ database, vault, clock, log, setting });
  const intake = new ChannelEventIntake({ database, vault, clock, hear });
  return {
    clock,
    appSecret,
    verifyToken,
    read: (body) => readWhatsAppEvents(body, phoneNumberId),
    apply: async (events) => {
      const counts = await intake.apply(events);
      watcher.happened(events);
      return counts;
    },
  };
}

// The registrar of a service, which reports its statements to the watcher and traces its batches.

interface OpenRegistrar {
  readonly registrar: Pick<Registrar, 'register'>;
  /** How many applications it works on at once. */
  readonly atWork: number;
}

async function openRegistrar(
  { database, vault, clock, patience }: Store & Pick<OpenStore, 'patience'>,
  watcher: Watcher,
): Promise<OpenRegistrar> {
  const spread = await patience.run(() => isSpread(database));
  const traced = await tracedRegistrations();
  const around: AroundStatement = (batches, call) => {
    watcher.registering(
      batches.length,
      batches.reduce((sum, { candidates }) => sum + candidates.length, 0),
    );
    return traced === null ? call() : traced.around(batches, call);
  };
  const terms = { indexKeyId: vault.indexKeyId };
  const registrar = new Registrar(database, terms, { clock, isSpread: spread, around });
  return { registrar: traced?.of(registrar) ?? registrar, atWork: registrar.atWork };
}

/** null: this process is not traced. */
async function tracedRegistrations() {
  const some = tracing();
  if (some === null) return null;
  const { TracedRegistrations } = await import('../subjects/applications/uses/traced-registration.ts');
  return new TracedRegistrations(some);
}
