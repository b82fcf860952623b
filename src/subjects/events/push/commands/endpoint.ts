/**
 * The commands `ventanilla partner endpoint`, and how they show endpoints and test pushes (docs/events.md, "Push").
 * `uses/endpoints.ts` does the work.
 */
import type { Command } from 'commander';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { HOUR_MS } from '../../../../ground/base/clock.ts';
import { counted } from '../../../../ground/base/counted.ts';
import { named } from '../../../../ground/base/named.ts';
import { addCommand, addGroup, type Cli } from '../../../../program/cli/command.ts';
import { readPartnerId } from '../../../../program/cli/id-arguments.ts';
import { type Io, recordOf, shortTime, writeJson, writeOutput } from '../../../../program/cli/output.ts';
import { acting, noting } from '../../../../program/operations/acting.ts';
import { ENDPOINT_HOSTS } from '../rules/endpoint-hosts.ts';
import type { DisabledReason, OwnFailure, PushFailure } from '../rules/failures.ts';
import {
  disablePartnerEndpoint,
  type PartnerEndpoint,
  type PushResult,
  rotateEndpointSecret,
  setPartnerEndpoint,
  showPartnerEndpoint,
  testPartnerEndpoint,
} from '../uses/endpoints.ts';

// How commands show endpoints and test pushes.

/** The meaning of those codes of failures that do not explain themselves. */
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

/** The text keeps the code, so that people can look it up. */
function otherFailure(code: string): string {
  if (code.startsWith('HPE_')) return `the answer is not HTTP (${code})`;
  return /^(ERR_SSL|ERR_TLS|CERT|UNABLE)_/.test(code) ? `TLS failed (${code})` : code;
}

/** What became of a test push, in a sentence. */
function resultText(result: PushResult): string {
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
function shownText(endpoint: PartnerEndpoint): string {
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
function endpointJson(endpoint: Omit<PartnerEndpoint, 'partner'>) {
  const { settings, disabledAt, brokenAt, overlapMs } = endpoint;
  const broken = brokenAt === null ? 'enabled' : 'broken';
  const url = typeof settings === 'string' ? null : (settings?.url ?? null);
  const status = disabledAt === null ? broken : 'disabled';
  const oldSecretSignsForS = Math.ceil(overlapMs / 1000);
  return named({ ...endpoint, url, status, oldSecretSignsForS }, [
    'partner_id url status set_at conversation_events disabled_at disabled_reason broken_at probe_at',
    'waiting oldest_at last_success_at last_failure last_failure_at old_secret_signs_for_s',
  ]);
}

interface JsonOption {
  readonly json?: boolean;
}

interface SetOptions extends JsonOption {
  readonly url: string;
  readonly conversationEvents?: boolean;
}

/** Adds the group of commands. */
export function addEndpointCommands(partnerGroup: Command, cli: Cli): void {
  const group = addGroup(
    partnerGroup,
    'endpoint',
    'where the events of a partner are pushed to (docs/events.md)',
    'partner endpoint show 1',
  );
  addSet(group, cli);
  addShow(group, cli);
  addTest(group, cli);
  addRotate(group, cli);
  addDisable(group, cli);
}

function addSet(group: Command, { roles, io }: Cli): void {
  addPartnerCommand(
    group,
    'set',
    'push the events of a partner to a URL; the secret of a new endpoint is shown once',
    'partner endpoint set 1 --url https://partner.example/events',
  )
    .requiredOption('--url <url>', 'the address of the partner, with https')
    .option(
      '--conversation-events',
      'push the events of conversations too; without the option it stays as it is',
    )
    .option('--no-conversation-events', 'push no events of conversations')
    .action((id: PartnerId, { url, conversationEvents, json }: SetOptions) =>
      roles.operate(async (context) => {
        const hosts = await roles.setting(ENDPOINT_HOSTS);
        const { endpoint, secret } = await acting(
          context,
          (part) =>
            setPartnerEndpoint(part, id, { url, hosts, conversationEvents: conversationEvents ?? null }),
          () => ({ act: 'partner endpoint set', target: `partner ${id}` }),
        );
        if (json) return writeJson(io, { ...(secret !== null && { secret }), ...endpointJson(endpoint) });
        await writeOutput(io, `New events of ${endpoint.partner.name} are pushed to ${url.trim()}.\n`);
        if (secret === null) await writeOutput(io, 'The signing secret stays as it is.\n');
        else await writeSecret(io, secret);
        await writeOutput(io, `Try it: npx ventanilla partner endpoint test ${id}\n`);
      }),
    );
}

function addShow(group: Command, { roles, io }: Cli): void {
  addPartnerCommand(
    group,
    'show',
    'show an endpoint: its status, what waits, and what failed',
    'partner endpoint show 1',
  ).action((id: PartnerId, { json }: JsonOption) =>
    roles.operate(async (context) => {
      const endpoint = await showPartnerEndpoint(context, id);
      if (json) return writeJson(io, endpointJson(endpoint));
      await writeOutput(io, `${shownText(endpoint)}\n`);
    }),
  );
}

function addTest(group: Command, { roles, io }: Cli): void {
  addPartnerCommand(
    group,
    'test',
    'send a signed test event now and show what happened',
    'partner endpoint test 1',
  ).action((id: PartnerId, { json }: JsonOption) =>
    roles.operate(async (context) => {
      await noting(context, { act: 'partner endpoint test', target: `partner ${id}` });
      const test = await testPartnerEndpoint(context, id, await roles.setting(ENDPOINT_HOSTS));
      const { eventId, result } = test;
      const delivered = result.kind === 'delivered';
      const status = delivered ? result.status : null;
      const failure = delivered ? null : result.failure;
      if (!delivered) io.exitCode = 1;
      if (json)
        return writeJson(io, { id: eventId, delivered, status, failure, took_ms: Math.round(test.tookMs) });
      await writeOutput(io, `The test event is ${eventId}, of the type endpoint.test.\n`);
      await writeOutput(io, `${resultText(result)} (${Math.round(test.tookMs)} ms)\n`);
    }),
  );
}

const OVERLAP_ENDED =
  'This was a second rotation within 24 hours: pushes are not signed with the oldest secret any more.';

function addRotate(group: Command, { roles, io }: Cli): void {
  addPartnerCommand(
    group,
    'rotate',
    'make another signing secret, shown once; for 24 hours pushes are signed with both',
    'partner endpoint rotate 1',
  ).action((id: PartnerId, { json }: JsonOption) =>
    roles.operate(async (context) => {
      const { secret, endsOverlap } = await acting(
        context,
        (part) => rotateEndpointSecret(part, id),
        () => ({ act: 'partner endpoint rotate', target: `partner ${id}` }),
      );
      if (json) return writeJson(io, { secret });
      await writeSecret(io, secret);
      await writeOutput(io, 'For 24 hours pushes are signed with the old secret too.\n');
      if (endsOverlap) await writeOutput(io, `${OVERLAP_ENDED}\n`);
    }),
  );
}

function addDisable(group: Command, { roles, io }: Cli): void {
  addPartnerCommand(
    group,
    'disable',
    'push nothing any more and drop what waits; events stay in the feed',
    'partner endpoint disable 1',
  ).action((id: PartnerId, { json }: JsonOption) =>
    roles.operate(async (context) => {
      const endpoint = await acting(
        context,
        (part) => disablePartnerEndpoint(part, id),
        () => ({ act: 'partner endpoint disable', target: `partner ${id}` }),
      );
      if (json) return writeJson(io, endpointJson(endpoint));
      await writeOutput(io, 'The endpoint is disabled. Its partner still reads the events in the feed.\n');
      await writeOutput(io, `Enable it again: npx ventanilla partner endpoint set ${id} --url <url>\n`);
    }),
  );
}

/** Every command of the group takes a partner. */
function addPartnerCommand(group: Command, name: string, about: string, example: string): Command {
  return addCommand(group, name, about, example).argument(
    '<partner>',
    'the ID of the partner',
    readPartnerId,
  );
}

async function writeSecret(io: Io, secret: string): Promise<void> {
  await writeOutput(io, `Signing secret:\n\n  ${secret}\n\n`);
  await writeOutput(io, 'The secret is shown only now. Pass it on safely.\n');
}
