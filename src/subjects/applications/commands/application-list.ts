/**
 * The command `ventanilla application list`: reads applications, and records each reading of personal data
 * (docs/audit.md). docs/operations.md ("Reviews and leads") has the rule.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { APPLICATION_STATUSES, type ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, choiceOption, limitOption, readTime } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import {
  type Column,
  type ListOptions,
  shortTime,
  shownRows,
  writeList,
} from '../../../program/cli/output.ts';
import { addReveal, hiddenValue, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { noting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { listApplications, type StoredApplication } from '../uses/applications.ts';
import { applicationJson, debtText, masked, tellFaults, text } from './application-view.ts';

interface SearchOptions extends ListOptions, RevealOptions {
  phone?: string;
  idNumber?: string;
  partner?: PartnerId;
  status?: ApplicationStatus;
  interested?: true;
  since?: Date;
}

const STDIN = '"-" reads it from standard input';

/** Adds `application list`. */
export function addList(group: Command, { roles, io }: Cli): void {
  const example = "application list --phone '+57 300 123 4567'";
  addReveal(addCommand(group, 'list', 'list applications, newest first', example))
    .option(
      '--phone <number>',
      `only applications with this phone, with country code or as dialled at home; ${STDIN}`,
    )
    .option('--id-number <text>', `only applications with this citizen ID number, in any spelling; ${STDIN}`)
    .option('--partner <id>', 'only applications of this partner', readPartnerId)
    .addOption(choiceOption('--status <status>', 'only applications with this status', APPLICATION_STATUSES))
    .option('--interested', 'only leads: the applicant tapped "I am interested"; newest interest first')
    .option('--since <time>', 'with --interested: only an interest of this time and later', readTime)
    .addOption(limitOption())
    .action((options: SearchOptions, command: Command) => {
      const { partner: partnerId, status, interested, since } = options;
      const why = revealReason(options, command);
      if (since !== undefined && interested !== true)
        command.error(
          'error: --since goes with --interested: it tells since when the applicants are interested',
        );
      const interestedSince = interested === true ? (since ?? ('ever' as const)) : undefined;
      if (options.phone === '-' && options.idNumber === '-')
        command.error('error: standard input has one value: give - for --phone or for --id-number');
      return roles.operate(async (context) => {
        const phone = options.phone && (await hiddenValue(io, options.phone));
        const idNumber = options.idNumber && (await hiddenValue(io, options.idNumber));
        const query = { phone, idNumber, partnerId, status, interestedSince };
        const reader = namedBy(options, context);
        const found = shownOf(reader, listApplications(context, query), shownRows(options), why);
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

/** How many readings are recorded at once. */
const REVEALED_AT_ONCE = 100;

/**
 * The applications with their personal data masked. With a reason `why` the data is shown, and the reading of each of
 * the first `limit` is recorded before.
 */
async function* shownOf(
  context: OperatorContext,
  applications: AsyncIterable<StoredApplication>,
  limit: number,
  why: string | null,
): AsyncGenerator<StoredApplication, void, undefined> {
  let left = limit;
  const some: StoredApplication[] = [];
  const reveal = async () => {
    const [first, ...others] = some.map(({ id }) => ({
      act: 'application list --reveal',
      applicationId: id,
      reason: why ?? '',
    }));
    if (first !== undefined) await noting(context, first, ...others);
    return some.splice(0);
  };
  for await (const application of applications) {
    if (why === null || left === 0) yield masked(application);
    else {
      some.push(application);
      left -= 1;
      if (some.length === REVEALED_AT_ONCE || left === 0) yield* await reveal();
    }
  }
  yield* await reveal();
}

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
