/**
 * The command `ventanilla event list` (docs/operations.md, "Events of partners"). `uses/list-partner-events.ts` does
 * the work.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli, limitOption, readTime } from '../../../program/cli/command.ts';
import { readApplicationId, readPartnerId } from '../../../program/cli/id-arguments.ts';
import { type ListOptions, shortTime, writeList } from '../../../program/cli/output.ts';
import { type ListedEvent, listPartnerEvents } from '../uses/list-partner-events.ts';

interface EventListOptions extends ListOptions {
  readonly partner: PartnerId;
  readonly after?: string;
  readonly since?: Date;
  readonly application?: ApplicationId;
}

/** As the partner sees the event, but without the ID number, and with every member in every type. */
const EVENT = 'id type timestamp application from to reason_code message';

export function addEventCommands(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'list',
    'list the events of a partner that are kept, newest first',
    'event list --partner 2 --since 2026-11-20',
  )
    .requiredOption('--partner <id>', 'the partner', readPartnerId)
    .option('--after <event>', 'only the events after this one, by its ID: evt_...')
    .option('--since <time>', 'only the events of this time and later, as 2026-11-20T00:00:00Z', readTime)
    .option('--application <id>', 'only the events of this application', readApplicationId)
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
          json: (event) => named({ ...event, timestamp: event.at, application: event.applicationId }, EVENT),
          none: 'No events.',
        });
      }),
    );
}

function whatHappened({ from, to, reasonCode, message }: ListedEvent): string | null {
  return to === null ? message : `${from} to ${to}, ${reasonCode}`;
}
