/** `ventanilla key refusals`. */

import type { Command } from 'commander';
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { optionalTime, withOffset } from '../../../ground/base/time.ts';
import { addCommand, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readKeyId, readPartnerId } from '../../../program/cli/id-arguments.ts';
import { type ListOptions, shortTime, writeList } from '../../../program/cli/output.ts';
import { type KeyRefusals, listRefusals } from '../uses/keys.ts';

const HELP = `
Each row is a key and an hour (UTC) of the last 30 days in which /PRO refused something. 401 counts requests after the
key's end or to the wrong environment. REMEMBERED counts batches under an Idempotency-Key that registered nothing.
FORGOTTEN counts those of them whose answers were forgotten before 24 hours, because the key has newer ones. SWEEP is
the time from which the hour looks like a sweep: many phones tried, to learn which ones have an open application.
docs/refusals.md says what to do then.`;

export function addRefusalsCommand(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'refusals',
    'show what was refused under each key, by hour, newest first',
    'key refusals --key 3',
  )
    .option('--key <id>', 'only rows of this key', readKeyId)
    .option('--partner <id>', "only rows of this partner's keys", readPartnerId)
    .addOption(limitOption())
    .addHelpText('after', HELP)
    .action((options: ListOptions & { key?: KeyId; partner?: PartnerId }) =>
      roles.operate(async (context) => {
        const refusals = await listRefusals(context, { keyId: options.key, partnerId: options.partner });
        await writeList(io, refusals, options, {
          columns: [
            { title: 'HOUR', value: ({ hour }) => shortTime(hour) },
            { title: 'KEY ID', value: ({ keyId }) => keyId },
            { title: 'PARTNER', value: ({ partner }) => `${partner.id} ${partner.name}` },
            { title: 'REGISTERED', value: ({ registered }) => registered },
            { title: 'DUPLICATE', value: ({ duplicate }) => duplicate },
            { title: 'OVER QUOTA', value: (one) => one.over_quota },
            { title: 'INVALID', value: ({ invalid }) => invalid },
            { title: '401', value: ({ unauthorized }) => unauthorized },
            { title: 'REMEMBERED', value: ({ remembered }) => remembered },
            { title: 'FORGOTTEN', value: ({ forgotten }) => forgotten },
            { title: 'SWEEP', value: ({ sweepAt }) => shortTime(sweepAt) },
          ],
          json: refusalsJson,
          none: 'Nothing was refused in the last 30 days.',
        });
      }),
    );
}

function refusalsJson(refusals: KeyRefusals) {
  const { keyId, hint, partner, hour, sweepAt } = refusals;
  return {
    hour: withOffset(hour),
    key_id: keyId,
    hint,
    partner,
    registered: refusals.registered,
    duplicate: refusals.duplicate,
    over_quota: refusals.over_quota,
    invalid: refusals.invalid,
    unauthorized: refusals.unauthorized,
    remembered: refusals.remembered,
    forgotten: refusals.forgotten,
    sweep_at: optionalTime(sweepAt),
  };
}
