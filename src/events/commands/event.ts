/** `ventanilla event`. */
import type { Command } from 'commander';
import { withOffset } from '../../base/time.ts';
import { addCommand, type Cli, limitOption, readPositive, readTime } from '../../cli/command.ts';
import { type ListOptions, shortTime, writeJson, writeList, writeOutput } from '../../cli/output.ts';
import { OperatorError } from '../../operations/operator-context.ts';
import { type ResendStart, resendPartnerEvents } from '../push/uses/endpoints.ts';
import { type ListedEvent, listPartnerEvents } from '../uses/list-partner-events.ts';

interface EventListOptions extends ListOptions {
  readonly partner: number;
  readonly after?: string;
  readonly since?: Date;
  readonly application?: number;
}

interface ResendOptions {
  readonly partner: number;
  readonly after?: string;
  readonly since?: Date;
  readonly json?: boolean;
}

export function addEventCommands(group: Command, cli: Cli): void {
  addEventList(group, cli);
  addResend(group, cli);
}

function addEventList(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'list',
    'list the events of a partner that are kept, newest first',
    'event list --partner 2 --since 2026-11-20',
  )
    .requiredOption('--partner <id>', 'the partner', readPositive)
    .option('--after <event>', 'only the events after this one, by its ID: evt_...')
    .option('--since <time>', 'only the events of this time and later, as 2026-11-20T00:00:00Z', readTime)
    .option('--application <id>', 'only the events of this application', readPositive)
    .addOption(limitOption())
    .action(({ partner, after, since, application, ...options }: EventListOptions) =>
      roles.operate(async (context) => {
        const found = listPartnerEvents(context, partner, { after, since, application });
        await writeList(io, found, options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'AT', value: ({ at }) => shortTime(at) },
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'TYPE', value: ({ type }) => type },
            { title: 'WHAT', value: whatHappened },
          ],
          json: eventJson,
          none: 'No events.',
        });
      }),
    );
}

function whatHappened({ from, to, reasonCode, message }: ListedEvent): string | null {
  return to === null ? message : `${from} to ${to}, ${reasonCode}`;
}

/** As the partner sees the event, but without the ID number, and with every member in every type. */
function eventJson({ id, at, type, applicationId, from, to, reasonCode, message }: ListedEvent) {
  const members = { from, to, reason_code: reasonCode, message };
  return { id, type, timestamp: withOffset(at), application: applicationId, ...members };
}

function addResend(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'resend',
    'push the events of a partner to its endpoint again, from a place on',
    'event resend --partner 2 --since 2026-11-20T00:00:00Z',
  )
    .requiredOption('--partner <id>', 'the partner', readPositive)
    .option('--after <event>', 'the events after this one, by its ID: evt_...')
    .option('--since <time>', 'the events of this time and later, as 2026-11-20T00:00:00Z', readTime)
    .action((options: ResendOptions) =>
      roles.operate(async (context) => {
        const queued = await resendPartnerEvents(context, options.partner, startOf(options));
        if (options.json) return writeJson(io, { queued });
        await writeOutput(
          io,
          queued === 0
            ? 'There is nothing to push again: every such event waits already, or is not kept any more.\n'
            : `${queued} ${queued === 1 ? 'event is' : 'events are'} pushed again.\n`,
        );
      }),
    );
}

function startOf({ after, since }: ResendOptions): ResendStart {
  if (after !== undefined && since === undefined) return { after };
  if (since !== undefined && after === undefined) return { since };
  throw new OperatorError('say where to begin: either --after or --since');
}
