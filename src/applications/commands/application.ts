/** `ventanilla application`. */

import type { Command } from 'commander';
import { addCommand, type Cli, choiceOption, limitOption, readTime } from '../../cli/command.ts';
import { readApplicationId, readPartnerId } from '../../cli/id-arguments.ts';
import {
  type Column,
  type Io,
  type ListOptions,
  shortTime,
  shownRows,
  writeJson,
  writeList,
  writeNote,
} from '../../cli/output.ts';
import type { PartnerId } from '../../partners/rules/credential.ts';
import type { ApplicationId } from '../rules/ids.ts';
import { APPLICATION_STATUSES, type ApplicationStatus, REVIEW_ACTIONS } from '../rules/lifecycle.ts';
import { listApplications, type StoredApplication, showApplication } from '../uses/applications.ts';
import { addFreePhone } from './application-phone.ts';
import { addReview } from './application-review.ts';
import { applicationJson, debtText, explainedJson, text, writeExplained } from './application-view.ts';

interface SearchOptions extends ListOptions {
  phone?: string;
  idNumber?: string;
  partner?: PartnerId;
  status?: ApplicationStatus;
  interested?: true;
  since?: Date;
}

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addShow(group, cli);
  for (const action of REVIEW_ACTIONS) addReview(group, cli, action);
  addFreePhone(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  const example = "application list --phone '+57 300 123 4567'";
  addCommand(group, 'list', 'list applications, newest first', example)
    .option('--phone <number>', 'only applications with this phone, with country code or as dialled at home')
    .option('--id-number <text>', 'only applications with this citizen ID number')
    .option('--partner <id>', 'only applications of this partner', readPartnerId)
    .addOption(choiceOption('--status <status>', 'only applications with this status', APPLICATION_STATUSES))
    .option('--interested', 'only leads: the applicant tapped "I am interested"; newest interest first')
    .option('--since <time>', 'with --interested: only an interest of this time and later', readTime)
    .addOption(limitOption())
    .action((options: SearchOptions, command: Command) => {
      const { phone, idNumber, partner: partnerId, status, interested, since } = options;
      if (since !== undefined && interested !== true)
        command.error(
          'error: --since goes with --interested: it tells since when the applicants are interested',
        );
      const interestedSince = interested === true ? (since ?? 'ever') : undefined;
      return roles.operate(async (context) => {
        const found = listApplications(context, { phone, idNumber, partnerId, status, interestedSince });
        const faulty: ApplicationId[] = [];
        await writeList(io, notingFaults(found, shownRows(options), faulty), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'REGISTERED', value: ({ createdAt }) => shortTime(createdAt) },
            { title: 'PARTNER', value: ({ partner }) => partner.name },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'DECISION', value: ({ decision }) => decision },
            { title: 'SCORE', value: ({ score }) => score },
            {
              title: 'NAME',
              value: ({ fields, fault }) => (fault === null ? text(fields.name) : `(${fault})`),
            },
            { title: 'ID NUMBER', value: ({ fields }) => text(fields.id_number) },
            { title: 'PHONE', value: ({ fields }) => text(fields.phone) },
            { title: 'DEBT', value: debtText },
            ...(interested === true ? [INTERESTED] : []),
          ],
          json: applicationJson,
          none: 'No applications.',
        });
        tellFaults(io, faulty);
      });
    });
}

const INTERESTED: Column<StoredApplication> = {
  title: 'INTERESTED',
  value: ({ interestedAt }) => shortTime(interestedAt),
};

/** Collects in `faulty` the ids of applications whose personal data cannot be shown, among the first `limit`. */
async function* notingFaults(
  applications: AsyncIterable<StoredApplication>,
  limit: number,
  faulty: ApplicationId[],
): AsyncGenerator<StoredApplication, void, undefined> {
  let count = 0;
  for await (const application of applications) {
    count += 1;
    if (application.fault !== null && count <= limit) faulty.push(application.id);
    yield application;
  }
}

/** Says whose data is hidden, because hidden data must not look like absent data. */
function tellFaults(io: Io, ids: readonly ApplicationId[]): void {
  if (ids.length === 0) return;
  const some = ids.slice(0, 5).join(', ') + (ids.length > 5 ? ' …' : '');
  const whose = ids.length === 1 ? `application ${some}` : `${ids.length} applications (${some})`;
  writeNote(
    io,
    `The personal data of ${whose} cannot be shown. See docs/messages.md, "Personal data that does not open".\n`,
  );
  io.exitCode = 1;
}

function addShow(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'show', 'show an application, its points and its history', 'application show 12')
    .argument('<id>', 'the application', readApplicationId)
    .action((id: ApplicationId, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const application = await showApplication(context, id);
        if (json) await writeJson(io, explainedJson(application));
        else await writeExplained(io, application);
        tellFaults(io, application.fault === null ? [] : [id]);
      }),
    );
}
