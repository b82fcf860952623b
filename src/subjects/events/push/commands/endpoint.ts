/** `ventanilla partner endpoint`. */
import type { Command } from 'commander';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { addCommand, addGroup, type Cli } from '../../../../program/cli/command.ts';
import { readPartnerId } from '../../../../program/cli/id-arguments.ts';
import { type Io, writeJson, writeOutput } from '../../../../program/cli/output.ts';
import { acting, noting } from '../../../../program/operations/acting.ts';
import { ENDPOINT_HOSTS } from '../rules/endpoint-hosts.ts';
import {
  disablePartnerEndpoint,
  rotateEndpointSecret,
  setPartnerEndpoint,
  showPartnerEndpoint,
  testPartnerEndpoint,
} from '../uses/endpoints.ts';
import { endpointJson, resultText, shownText, testJson } from './endpoint-view.ts';

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
      if (test.result.kind === 'failed') io.exitCode = 1;
      if (json) return writeJson(io, testJson(test));
      await writeOutput(io, `The test event is ${test.eventId}, of the type endpoint.test.\n`);
      await writeOutput(io, `${resultText(test.result)} (${Math.round(test.tookMs)} ms)\n`);
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
