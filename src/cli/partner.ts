/** `ventanilla partner`. */

import type { Command } from 'commander';
import { withOffset } from '../domain/time.ts';
import { addPartner, listPartners, type Partner } from '../usecases/partners.ts';
import { addCommand, type Cli, limitOption } from './command.ts';
import { addEndpointCommands } from './endpoint.ts';
import { type ListOptions, shortTime, writeJson, writeList, writeOutput } from './output.ts';

export function addPartnerCommands(group: Command, cli: Cli): void {
  const { roles, io } = cli;
  addCommand(group, 'add', 'add a partner', 'partner add --name Acme --country CO')
    .requiredOption('--name <name>', 'the name that applicants see')
    .requiredOption(
      '--country <code>',
      "the partner's country, two letters: phones without country code are read as phones of that country",
    )
    .action((options: { name: string; country: string; json?: boolean }) =>
      roles.operate(async (context) => {
        const partner = await addPartner(context, options);
        if (options.json) return writeJson(io, partnerJson(partner));
        await writeOutput(io, `Added partner ${partner.id}: ${partner.name} (${partner.country}).\n`);
        await writeOutput(io, `Give it a key: npx ventanilla key issue --partner ${partner.id}\n`);
      }),
    );

  addCommand(group, 'list', 'list the partners, newest first', 'partner list')
    .addOption(limitOption())
    .action((options: ListOptions) =>
      roles.operate(async (context) =>
        writeList(io, await listPartners(context), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'NAME', value: ({ name }) => name },
            { title: 'COUNTRY', value: ({ country }) => country },
            { title: 'ADDED', value: ({ createdAt }) => shortTime(createdAt) },
          ],
          json: partnerJson,
          none: 'No partners yet. Add one: npx ventanilla partner add --name Acme --country CO',
        }),
      ),
    );

  addEndpointCommands(group, cli);
}

function partnerJson({ id, name, country, createdAt }: Partner) {
  return { id, name, country, created_at: withOffset(createdAt) };
}
