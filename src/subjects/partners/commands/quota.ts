/**
 * The command `ventanilla quota`: a partner's usage and what its keys still allow (docs/contract.md, "Quota status";
 * D18). `uses/partners.ts` reads the store.
 */
import type { Command } from 'commander';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { counted } from '../../../ground/base/counted.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import { writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { partnerQuota } from '../uses/partners.ts';

/** The names of the contract's quota status. */
const QUOTA = [
  { partner: 'id name country used_24h', keys: 'id hint environment daily_cap remaining' },
  'window fetched_at',
] as const;

export function addQuotaCommands(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'show',
    'show what a partner has used and what remains for each of its live keys',
    'quota show --partner 1',
  )
    .requiredOption('--partner <id>', 'the partner', readPartnerId)
    .action(({ partner: partnerId, json }: { partner: PartnerId; json?: boolean }) =>
      roles.operate(async (context) => {
        const quota = await partnerQuota(context, partnerId);
        const { partner, used24h, keys } = quota;
        const told = { ...quota, partner: { ...partner, used24h }, window: 'rolling_24h' };
        if (json) return writeJson(io, named(told, QUOTA));
        const used = counted(used24h, 'application');
        await writeOutput(io, `${partner.name} (${partner.country}) used ${used} in the last 24 hours.\n\n`);
        await writeList(
          io,
          keys,
          { limit: keys.length + 1 },
          {
            columns: [
              { title: 'ID', value: ({ id }) => id },
              { title: 'KEY', value: ({ hint }) => `${hint}...` },
              { title: 'FOR', value: ({ environment }) => environment ?? 'PRO, DEV' },
              { title: 'DAILY CAP', value: ({ dailyCap }) => dailyCap ?? 'none' },
              { title: 'REMAINING', value: ({ remaining }) => remaining ?? 'no limit' },
            ],
            json: (key) => key,
            none: 'The partner has no live key.',
          },
        );
      }),
    );
}
