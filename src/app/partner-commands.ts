/** `ventanilla partner`: the commands of all subjects that add some. */
import type { Command } from 'commander';
import { addEndpointCommands } from '../events/push/commands/endpoint.ts';
import { disableEndpoint } from '../events/push/sql/endpoints.ts';
import { addPartnerCommands } from '../partners/commands/partner.ts';
import type { ProgramCli } from './role-types.ts';

export function addPartnerGroup(group: Command, cli: ProgramCli): void {
  addPartnerCommands(group, cli, [
    // Its events go nowhere any more.
    disableEndpoint,
  ]);
  addEndpointCommands(group, cli, () => cli.roles.endpointHosts());
}
