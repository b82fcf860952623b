/** `ventanilla application`. */

import type { Command } from 'commander';
import {
  APPLICATION_STATUSES,
  type ApplicationStatus,
  REVIEW_ACTIONS,
  type ReviewAction,
} from '../domain/application/lifecycle.ts';
import { REASON_CODES, type ReasonCode } from '../domain/application/reason-codes.ts';
import { CRITERIA, MAX_POINTS } from '../domain/scoring/policy.ts';
import { withOffset } from '../domain/time.ts';
import {
  type ExplainedApplication,
  listApplications,
  reviewApplication,
  type StoredApplication,
  showApplication,
} from '../usecases/applications.ts';
import type { StoredMessage } from '../usecases/messages.ts';
import { addCommand, type Cli, choiceOption, limitOption, readPositive, readTime } from './command.ts';
import {
  type Column,
  type Io,
  type ListOptions,
  recordOf,
  shortTime,
  shownRows,
  writeJson,
  writeList,
  writeNote,
  writeOutput,
} from './output.ts';

interface SearchOptions extends ListOptions {
  phone?: string;
  idNumber?: string;
  partner?: number;
  status?: ApplicationStatus;
  interested?: true;
  since?: Date;
}

interface ActionTexts {
  readonly description: string;
  readonly reason: string;
  readonly code: ReasonCode;
}

const ACTION_TEXTS: Readonly<Record<ReviewAction, ActionTexts>> = {
  approve: {
    description: 'approve an application in review',
    reason: 'income confirmed by bank',
    code: 'income_verified',
  },
  reject: {
    description: 'reject an open application; its phone is free again',
    reason: 'documents are forged',
    code: 'documents_invalid',
  },
  disburse: {
    description: 'mark a signed application as paid out; its phone is free again',
    reason: 'paid, ref 4711',
    code: 'funds_transferred',
  },
};

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addShow(group, cli);
  for (const action of REVIEW_ACTIONS) addReview(group, cli, action);
}

function addList(group: Command, { roles, io }: Cli): void {
  const example = "application list --phone '+57 300 123 4567'";
  addCommand(group, 'list', 'list applications, newest first', example)
    .option('--phone <number>', 'only applications with this phone, with country code or as dialled at home')
    .option('--id-number <text>', 'only applications with this citizen ID number')
    .option('--partner <id>', 'only applications of this partner', readPositive)
    .addOption(choiceOption('--status <status>', 'only applications with this status', APPLICATION_STATUSES))
    .option('--interested', 'only leads: the applicant tapped "I am interested"; newest interest first')
    .option('--since <time>', 'with --interested: only an interest since this time', readTime)
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
        const faulty: number[] = [];
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
  faulty: number[],
): AsyncGenerator<StoredApplication, void, undefined> {
  let count = 0;
  for await (const application of applications) {
    count += 1;
    if (application.fault !== null && count <= limit) faulty.push(application.id);
    yield application;
  }
}

/** Says whose data is hidden, because hidden data must not look like absent data. */
function tellFaults(io: Io, ids: readonly number[]): void {
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
    .argument('<id>', 'the application', readPositive)
    .action((id: number, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const application = await showApplication(context, id);
        if (json) await writeJson(io, explainedJson(application));
        else await writeExplained({ roles, io }, application);
        tellFaults(io, application.fault === null ? [] : [id]);
      }),
    );
}

function addReview(group: Command, { roles, io }: Cli, action: ReviewAction): void {
  const { description, reason, code } = ACTION_TEXTS[action];
  const example = `application ${action} 12 --reason "${reason}" --reason-code ${code}`;
  addCommand(group, action, description, example)
    .argument('<id>', 'the application', readPositive)
    .requiredOption('--reason <text>', 'the reason, which goes into the history; the partner does not see it')
    .addOption(
      choiceOption(
        '--reason-code <code>',
        'the code that the partner sees; default unspecified',
        REASON_CODES[action],
      ),
    )
    .action((id: number, options: { reason: string; reasonCode?: ReasonCode; json?: boolean }) =>
      roles.operate(async (context) => {
        const { reason, reasonCode } = options;
        const { from, to } = await reviewApplication(context, id, action, reason, reasonCode);
        if (options.json) return writeJson(io, { id, status: to, action, from, to });
        await writeOutput(io, `Application ${id} went from ${from} to ${to}.\n`);
      }),
    );
}

async function writeExplained({ io }: Cli, application: ExplainedApplication): Promise<void> {
  const { id, partner, status, decision, score, points, messages, history } = application;
  const record = recordOf([
    ['Application', id],
    ['Registered', shortTime(application.createdAt)],
    ['Partner', `${partner.id} ${partner.name}`],
    ['Status', status],
    ['Decision', decision],
    ['Score', `${score ?? 'unreadable'} by policy ${application.policyVersion}`],
    ...CRITERIA.map((name) => [`  ${name}`, `${points[name] ?? '?'} of ${MAX_POINTS[name]}`] as const),
    ...(application.fault === null ? [] : [['Personal data', application.fault] as const]),
    ...Object.entries(application.fields).map(([name, value]) => [name, text(value)] as const),
    ['Messages', messages.map(messageState).join('; ') || 'none'],
    ['Interested', shortTime(application.interestedAt)],
  ]);
  await writeOutput(io, `${record}\n\n`);
  await writeList(
    io,
    history,
    { limit: history.length + 1 },
    {
      columns: [
        { title: 'AT', value: ({ at }) => shortTime(at) },
        { title: 'WHO', value: ({ actor }) => actor },
        { title: 'ACTION', value: ({ action }) => action },
        { title: 'FROM', value: ({ from }) => from },
        { title: 'TO', value: ({ to }) => to },
        { title: 'CODE', value: ({ reasonCode }) => reasonCode },
        { title: 'REASON', value: ({ reason }) => reason },
      ],
      json: (entry) => entry,
      none: '',
    },
  );
}

/** Such as `offer, cancelled (replaced)`. */
function messageState({ type, status, reason }: StoredMessage): string {
  return `${type}, ${status}${reason === null ? '' : ` (${reason})`}`;
}

function debtText({ decision, fields }: StoredApplication): string | null {
  return decision === null ? null : `${fields.debt_amount} ${fields.currency}`;
}

function text(value: string | number | boolean | null): string | null {
  return value === null ? null : String(value);
}

/** The members of an application have the names of the contract. */
function applicationJson(application: StoredApplication) {
  const { id, createdAt, partner, status, decision, score, interestedAt, fault, fields } = application;
  return {
    id,
    created_at: withOffset(createdAt),
    partner,
    status,
    decision,
    score,
    interested_at: interestedAt === null ? null : withOffset(interestedAt),
    fault,
    ...fields,
  };
}

function explainedJson(application: ExplainedApplication) {
  const { messages, history, points, policyVersion } = application;
  return {
    ...applicationJson(application),
    policy_version: policyVersion,
    points,
    messages: messages.map(({ type, status, reason, createdAt }) => ({
      ...{ type, status, reason },
      created_at: withOffset(createdAt),
    })),
    history: history.map(({ at, reasonCode, ...entry }) => ({
      at: withOffset(at),
      ...entry,
      reason_code: reasonCode,
    })),
  };
}
