/**
 * What operators do with the endpoints of partners, and with the pushes to them (D41, D47; docs/events.md, "Push").
 * Writes the store through `sql`; a test push uses the network.
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { withOffset } from '../../../../ground/base/clock.ts';
import { databaseTime } from '../../../../ground/postgres/database-time.ts';
import { type OperatorContext, OperatorError } from '../../../../program/operations/operator-context.ts';
import { eventNumberOf } from '../../../../seal/event-ids.ts';
import { randomBytes } from '../../../../seal/vault.ts';
import type { Partner } from '../../../partners/sql/partners.ts';
import { requirePartner } from '../../../partners/uses/partners.ts';
import { type PushResult, pushSender } from '../http/sender.ts';
import { makeSigningSecret, signatureHeaders } from '../http/sign.ts';
import type { EndpointHosts } from '../rules/endpoint-hosts.ts';
import { readEndpointUrl } from '../rules/endpoint-url.ts';
import { type EndpointSettings, targetOf } from '../sql/endpoint-settings.ts';
import {
  disableEndpoint,
  type Endpoint,
  readEndpoint,
  rotateSecret,
  writeEndpoint,
} from '../sql/endpoints.ts';
import { dropPushes, numberBefore, resendEvents } from '../sql/queue.ts';

export type { PushResult };

/** An endpoint with its partner. */
export interface PartnerEndpoint extends Endpoint {
  readonly partner: Partner;
}

/**
 * Sets the URL that a partner's events are pushed to, and enables the endpoint. `conversationEvents`: whether the
 * events of conversations are pushed too (D47); null: as before. `secret` is the signing secret of a new endpoint, and
 * null if the endpoint keeps its secret. Throws `OperatorError`.
 */
export async function setPartnerEndpoint(
  context: OperatorContext,
  partnerId: PartnerId,
  {
    url: text,
    hosts,
    conversationEvents = null,
  }: { url: string; hosts: EndpointHosts; conversationEvents?: boolean | null },
): Promise<{ endpoint: PartnerEndpoint; secret: string | null }> {
  const { database, vault } = context;
  const partner = await requirePartner(context, partnerId);
  if (partner.closedAt !== null)
    throw new OperatorError(`partner ${partnerId} is closed: its events are not pushed`, 'closed');
  const url = urlOf(text, hosts);
  // Otherwise the pushes that a disabled endpoint left in the queue would go out as soon as it is enabled.
  await dropPushes(database, partnerId);
  const settings = { url, newSecret: makeSigningSecret(), conversationEvents };
  const secret = await writeEndpoint(database, vault, partnerId, settings);
  return { endpoint: { ...(await requireEndpoint(context, partnerId)), partner }, secret };
}

/** Reads the endpoint of a partner. Throws `OperatorError` if there is none. */
export async function showPartnerEndpoint(
  context: OperatorContext,
  partnerId: PartnerId,
): Promise<PartnerEndpoint> {
  const partner = await requirePartner(context, partnerId);
  return { ...(await requireEndpoint(context, partnerId)), partner };
}

/**
 * Gives the endpoint another secret and returns it. For a day pushes are signed with both. `endsOverlap`: the overlap
 * of the previous rotation was not over, and its older secret now signs no more. Throws `OperatorError`.
 */
export async function rotateEndpointSecret(
  context: OperatorContext,
  partnerId: PartnerId,
): Promise<{ secret: string; endsOverlap: boolean }> {
  const { overlapMs } = await requireSettings(context, partnerId);
  const secret = makeSigningSecret();
  await rotateSecret(context.database, context.vault, partnerId, secret);
  return { secret, endsOverlap: overlapMs > 0 };
}

/** Stops the pushes of a partner and drops those that wait. Throws `OperatorError`. */
export async function disablePartnerEndpoint(
  context: OperatorContext,
  partnerId: PartnerId,
): Promise<Endpoint> {
  await requireEndpoint(context, partnerId);
  await disableEndpoint(context.database, partnerId);
  await dropPushes(context.database, partnerId);
  return requireEndpoint(context, partnerId);
}

/** The result of a test push. */
export interface EndpointTest {
  readonly eventId: string;
  readonly result: PushResult;
  readonly tookMs: number;
}

/** Sends a signed event of the type `endpoint.test` now, once, also to a disabled endpoint. Throws `OperatorError`. */
export async function testPartnerEndpoint(
  context: OperatorContext,
  partnerId: PartnerId,
  hosts: EndpointHosts,
): Promise<EndpointTest> {
  const { database, clock } = context;
  const { settings, overlapMs } = await requireSettings(context, partnerId);
  const now = await databaseTime(database);
  const eventId = `evt_test_${randomBytes(12).toString('base64url')}`;
  const body = JSON.stringify({ id: eventId, type: 'endpoint.test', timestamp: withOffset(now), data: {} });
  const { url, secrets } = targetOf(settings, overlapMs);
  const timestamp = Math.floor(now.getTime() / 1000);
  const sender = pushSender({ hosts, clock });
  const startedMs = clock.monotonicMs();
  try {
    const headers = signatureHeaders({ id: eventId, timestamp, body }, secrets);
    const result = await sender.send({ url, headers, body }, new AbortController().signal);
    return { eventId, result, tookMs: clock.monotonicMs() - startedMs };
  } finally {
    sender.close();
  }
}

/** The beginning of a resend: after an event, or at a time. */
export type ResendStart = { readonly after: string } | { readonly since: Date };

/**
 * Queues the kept events of a partner again, from `start` on. Returns how many were not queued already. Throws
 * `OperatorError`.
 */
export async function resendPartnerEvents(
  context: OperatorContext,
  partnerId: PartnerId,
  start: ResendStart,
): Promise<number> {
  const { database, vault } = context;
  const { disabledAt } = await requireEndpoint(context, partnerId);
  if (disabledAt !== null) {
    throw new OperatorError(
      `the endpoint of partner ${partnerId} is disabled: enable it with \`partner endpoint set\` first`,
      'endpoint_disabled',
    );
  }
  const after =
    'after' in start
      ? eventNumberOf(vault, partnerId, start.after)
      : await numberBefore(database, partnerId, start.since);
  if (after !== null) return resendEvents(database, partnerId, after);
  if ('after' in start) throw new OperatorError(`this is not the ID of an event of partner ${partnerId}`);
  return 0;
}

function urlOf(text: string, hosts: EndpointHosts): URL {
  try {
    return readEndpointUrl(text, hosts);
  } catch (error) {
    if (error instanceof RangeError) throw new OperatorError(error.message);
    throw error;
  }
}

async function requireEndpoint(context: OperatorContext, partnerId: PartnerId): Promise<Endpoint> {
  const endpoint = await readEndpoint(context.database, context.vault, partnerId);
  if (endpoint !== null) return endpoint;
  await requirePartner(context, partnerId);
  throw new OperatorError(
    `partner ${partnerId} has no endpoint: set one with \`partner endpoint set ${partnerId} --url https://...\``,
    'no_endpoint',
  );
}

async function requireSettings(
  context: OperatorContext,
  partnerId: PartnerId,
): Promise<{ settings: EndpointSettings; overlapMs: number }> {
  await requirePartner(context, partnerId);
  const { settings, overlapMs } = await requireEndpoint(context, partnerId);
  if (settings === 'unknown_key') {
    throw new OperatorError(
      `the endpoint of partner ${partnerId} is sealed with a data key that is not in DATA_KEYS: add the key`,
      'endpoint_unreadable',
    );
  }
  if (settings !== null) return { settings, overlapMs };
  throw new OperatorError(
    `the endpoint of partner ${partnerId} is damaged: set its URL again, which makes a new secret`,
    'endpoint_unreadable',
  );
}
