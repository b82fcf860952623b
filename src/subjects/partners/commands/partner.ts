/** The commands `ventanilla partner` (docs/operations.md, "Commands"). `uses/partners.ts` does the work. */
import type { Command } from 'commander';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  addPartner,
  changePartnerName,
  closePartner,
  listPartners,
  reopenPartner,
  type WhenClosing,
} from '../uses/partners.ts';

const PARTNER = 'id name country created_at closed_at';

/** Adds the commands. `whenClosing`: what other subjects do for a partner that closes. */
export function addPartnerCommands(group: Command, cli: Cli, whenClosing: readonly WhenClosing[]): void {
  const { roles, io } = cli;
  addCommand(group, 'add', 'add a partner', 'partner add --name Acme --country CO')
    .requiredOption('--name <name>', 'the name that applicants see')
    .requiredOption(
      '--country <code>',
      "the partner's country, two letters: phones without country code are read as phones of that country",
    )
    .action((options: { name: string; country: string; json?: boolean }) =>
      roles.operate(async (context) => {
        const partner = await acting(
          context,
          (part) => addPartner(part, options),
          ({ id }) => ({ act: 'partner add', target: `partner ${id}` }),
        );
        if (options.json) return writeJson(io, named(partner, PARTNER));
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
            { title: 'CLOSED', value: ({ closedAt }) => shortTime(closedAt) },
          ],
          json: (partner) => named(partner, PARTNER),
          none: 'No partners yet. Add one: npx ventanilla partner add --name Acme --country CO',
        }),
      ),
    );

  addChanges(group, cli, whenClosing);
}

function addChanges(group: Command, { roles, io }: Cli, whenClosing: readonly WhenClosing[]): void {
  addCommand(group, 'rename', 'give a partner another name', 'partner rename 1 --name "Acme Colombia"')
    .argument('<id>', 'the partner', readPartnerId)
    .requiredOption('--name <name>', 'the name that applicants see from the next message on')
    .action((id: PartnerId, { name, json }: { name: string; json?: boolean }) =>
      roles.operate(async (context) => {
        const partner = await acting(
          context,
          (part) => changePartnerName(part, id, name),
          () => ({ act: 'partner rename', target: `partner ${id}` }),
        );
        if (json) return writeJson(io, named(partner, PARTNER));
        await writeOutput(io, `Partner ${partner.id} is ${partner.name} now.\n`);
      }),
    );

  addCommand(group, 'close', 'revoke all keys of a partner and stop its pushes', 'partner close 1')
    .argument('<id>', 'the partner', readPartnerId)
    .action((id: PartnerId, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const { partner, revoked } = await acting(
          context,
          (part) => closePartner(part, id, whenClosing),
          () => ({ act: 'partner close', target: `partner ${id}` }),
        );
        if (json) return writeJson(io, { ...named(partner, PARTNER), keys_revoked: revoked });
        await writeOutput(io, `Closed partner ${id}: ${partner.name}. Keys revoked: ${revoked}.\n`);
        await writeOutput(
          io,
          `Its applications stay, and messages that wait still go out. To cancel these:\nnpx ventanilla message cancel --partner ${id}\n`,
        );
      }),
    );

  addCommand(group, 'reopen', 'let a closed partner have keys again', 'partner reopen 1')
    .argument('<id>', 'the partner', readPartnerId)
    .action((id: PartnerId, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const partner = await acting(
          context,
          (part) => reopenPartner(part, id),
          () => ({ act: 'partner reopen', target: `partner ${id}` }),
        );
        if (json) return writeJson(io, named(partner, PARTNER));
        await writeOutput(io, `Reopened partner ${id}: ${partner.name}. Its old keys stay revoked.\n`);
        await writeOutput(io, `Give it a key: npx ventanilla key issue --partner ${id}\n`);
      }),
    );
}
