/** The command `ventanilla event resend` (docs/events.md, "Push"). `uses/endpoints.ts` does the work. */
import type { Command } from 'commander';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { counted } from '../../../../ground/base/counted.ts';
import { addCommand, type Cli, readTime } from '../../../../program/cli/command.ts';
import { readPartnerId } from '../../../../program/cli/id-arguments.ts';
import { writeJson, writeOutput } from '../../../../program/cli/output.ts';
import { noting } from '../../../../program/operations/acting.ts';
import { OperatorError } from '../../../../program/operations/operator-context.ts';
import { type ResendStart, resendPartnerEvents } from '../uses/endpoints.ts';

interface ResendOptions {
  readonly partner: PartnerId;
  readonly after?: string;
  readonly since?: Date;
  readonly json?: boolean;
}

/** Adds the command to the group of the events. */
export function addResend(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'resend',
    'push the events of a partner to its endpoint again, from a place on',
    'event resend --partner 2 --since 2026-11-20T00:00:00Z',
  )
    .requiredOption('--partner <id>', 'the partner', readPartnerId)
    .option('--after <event>', 'the events after this one, by its ID: evt_...')
    .option('--since <time>', 'the events of this time and later, as 2026-11-20T00:00:00Z', readTime)
    .action((options: ResendOptions) =>
      roles.operate(async (context) => {
        const start = startOf(options);
        await noting(context, { act: 'event resend', target: `partner ${options.partner}` });
        const queued = await resendPartnerEvents(context, options.partner, start);
        if (options.json) return writeJson(io, { queued });
        await writeOutput(
          io,
          queued === 0
            ? 'There is nothing to push again: every such event waits already, or is not kept any more.\n'
            : `${counted(queued, 'event is', 'events are')} pushed again.\n`,
        );
      }),
    );
}

function startOf({ after, since }: ResendOptions): ResendStart {
  if (after !== undefined && since === undefined) return { after };
  if (since !== undefined && after === undefined) return { since };
  throw new OperatorError('say where to begin: either --after or --since');
}
