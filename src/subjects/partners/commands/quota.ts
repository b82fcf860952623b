/**
 * The command `ventanilla quota`: a partner's usage and what its keys still allow (contract, "Quota status"; D18).
 * `uses/partners.ts` reads the store.
 */
import type { Command } from 'commander';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { counted } from '../../../ground/base/counted.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import { writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { type PartnerQuota, partnerQuota } from '../uses/partners.ts';

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
        if (json) return writeJson(io, quotaJson(quota));
        const { partner, used24h, keys } = quota;
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

/** The members have the names of the contract's quota status. */
function quotaJson({ partner, used24h, fetchedAt, keys }: PartnerQuota) {
  return {
    partner: { id: partner.id, name: partner.name, country: partner.country, used_24h: used24h },
    keys: keys.map(({ dailyCap, remaining, ...key }) => ({ ...key, daily_cap: dailyCap, remaining })),
    window: 'rolling_24h',
    fetched_at: withOffset(fetchedAt),
  };
}
