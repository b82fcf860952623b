/** How commands show endpoints and test pushes. */
import { counted } from '../../../../ground/base/counted.ts';
import { HOUR_MS, optionalTime, withOffset } from '../../../../ground/base/time.ts';
import { recordOf, shortTime } from '../../../../program/cli/output.ts';
import type { DisabledReason, OwnFailure, PushFailure } from '../rules/failures.ts';
import type { EndpointTest, PartnerEndpoint, PushResult } from '../uses/endpoints.ts';

/** What the codes of failures mean, where the code alone does not say it. */
const FAILURES: Readonly<Record<Exclude<OwnFailure, 'aborted'>, string> & Record<string, string>> = {
  timeout: 'no answer within 10 seconds',
  private_address: 'the name of the host leads to an address that is not public',
  not_https: 'the URL has no https, and ENDPOINT_HOSTS does not name its host',
  connection_closed: 'the endpoint closed the connection without an answer',
  interim_answers: 'the endpoint sent interim answers (status 100 to 199) without an answer',
  no_connection: 'no connection',
  name_servers: "the name servers of this service's system did not look the host up",
  ENOTFOUND: 'the name of the host is not known',
  EHOSTUNREACH: 'the network has no way to the host',
  ENETUNREACH: 'the network has no way to the host',
  ETIMEDOUT: 'the host does not answer',
  EPROTO: 'the port of the URL does not speak TLS as this service does',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate comes from an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

function failureText(failure: PushFailure): string {
  const [, status] = /^status_(\d+)$/.exec(failure) ?? [];
  if (status === undefined) return FAILURES[failure] ?? otherFailure(failure);
  return `the status ${status}${status.startsWith('3') ? ' (redirects are not followed)' : ''}`;
}

/** The code stays in the text, so that it can be looked up. */
function otherFailure(code: string): string {
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return /^(ERR_SSL|ERR_TLS|CERT|UNABLE)_/.test(code) ? `TLS failed (${code})` : code;
}

/** What became of a test push, in a sentence. */
export function resultText(result: PushResult): string {
  return result.kind === 'delivered'
    ? `The endpoint took the event: status ${result.status}.`
    : `The push failed: ${failureText(result.failure)}.`;
}

const DISABLED: Readonly<Record<DisabledReason, string>> = {
  operator: 'disabled by an operator',
  gone: 'disabled: the endpoint said that it is gone (410)',
  no_success: 'disabled: no push succeeded for three days',
};

function statusText({ disabledReason, disabledAt, brokenAt, probeAt }: PartnerEndpoint): string {
  if (disabledReason !== null) return `${DISABLED[disabledReason]}, ${shortTime(disabledAt)}`;
  if (brokenAt === null) return 'enabled';
  return `fails since ${shortTime(brokenAt)}: only single pushes go out, the next one at ${shortTime(probeAt)}`;
}

function urlOf(settings: PartnerEndpoint['settings']): string {
  if (settings === 'unknown_key') return 'sealed with a data key that is not in DATA_KEYS';
  return settings?.url ?? 'damaged: set it again';
}

/** An endpoint for people. */
export function shownText(endpoint: PartnerEndpoint): string {
  const { partner, settings, overlapMs, lastFailure, lastFailureAt, lastSuccessAt } = endpoint;
  const hours = Math.ceil(overlapMs / HOUR_MS);
  return recordOf([
    ['Partner', `${partner.id} ${partner.name}`],
    ['URL', urlOf(settings)],
    ['Status', statusText(endpoint)],
    ['Set', shortTime(endpoint.setAt)],
    ['Conversations', endpoint.conversationEvents ? 'their events are pushed too' : 'no'],
    ['Waiting', endpoint.waiting],
    ['Oldest', shortTime(endpoint.oldestAt)],
    ['Last success', shortTime(lastSuccessAt)],
    ['Last failure', lastFailure && `${shortTime(lastFailureAt)}: ${failureText(lastFailure)}`],
    ...(hours > 0 ? [['Old secret', `signs too, for ${counted(hours, 'more hour')}`] as const] : []),
  ]);
}

/** An endpoint for programs. */
export function endpointJson(endpoint: Omit<PartnerEndpoint, 'partner'>) {
  const { settings, disabledAt, brokenAt } = endpoint;
  const broken = brokenAt === null ? 'enabled' : 'broken';
  return {
    partner_id: endpoint.partnerId,
    url: typeof settings === 'string' ? null : (settings?.url ?? null),
    status: disabledAt === null ? broken : 'disabled',
    set_at: withOffset(endpoint.setAt),
    conversation_events: endpoint.conversationEvents,
    disabled_at: optionalTime(disabledAt),
    disabled_reason: endpoint.disabledReason,
    broken_at: optionalTime(brokenAt),
    probe_at: optionalTime(endpoint.probeAt),
    waiting: endpoint.waiting,
    oldest_at: optionalTime(endpoint.oldestAt),
    last_success_at: optionalTime(endpoint.lastSuccessAt),
    last_failure: endpoint.lastFailure,
    last_failure_at: optionalTime(endpoint.lastFailureAt),
    old_secret_signs_for_s: Math.ceil(endpoint.overlapMs / 1000),
  };
}

/** A test push for programs. */
export function testJson({ eventId, result, tookMs }: EndpointTest) {
  return {
    id: eventId,
    delivered: result.kind === 'delivered',
    status: result.kind === 'delivered' ? result.status : null,
    failure: result.kind === 'failed' ? result.failure : null,
    took_ms: Math.round(tookMs),
  };
}
