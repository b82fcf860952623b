/**
 * `ventanilla message`: lists, counts and shows messages, retries and cancels them, and resumes what is paused
 * (docs/messages.md). The id of an application names its messages.
 */
import { type Command, Option } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { MESSAGE_STATUSES } from '../../../domain/message/notify.ts';
import { openingsText } from '../../../domain/message/opening-text.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli, choiceOption, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId, readPartnerId } from '../../../program/cli/id-arguments.ts';
import {
  type Io,
  type ListOptions,
  recordOf,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import {
  CHANGEABLE_STATUSES,
  type ChangeableStatus,
  type ChangeCount,
  type ChangeFilter,
  changeMessages,
  type MessageChange,
} from '../uses/message-selection.ts';
import {
  cancelMessages,
  countMessages,
  listMessages,
  type MessageFilter,
  MOST_LATER,
  resumeMessages,
  retryMessages,
  type StoredMessage,
  showMessages,
} from '../uses/messages.ts';

// First part: the messages of one application, as a text for people and as JSON for programs.

function messagesText(messages: readonly StoredMessage[]): string {
  return messages.map(messageText).join('\n');
}

function messageText(message: StoredMessage): string {
  const { applicationId, type, status, attempts, reason } = message;
  return `${recordOf([
    ['Application', applicationId],
    ['Type', type],
    ['Status', status],
    ['Attempts', attempts],
    ['Reason', reason],
    ['Until', shortTime(message.dueAt)],
    ['Created', shortTime(message.createdAt)],
    ['Changed', shortTime(message.changedAt)],
  ])}\n`;
}

function messageJson(message: StoredMessage) {
  const names = 'application_id type status attempts reason until created_at changed_at';
  return named({ ...message, until: message.dueAt }, names);
}

// Second part: `ventanilla message retry` and `cancel`, for the messages of one application or for all messages that
// fit.

const CHANGES = {
  retry: {
    changeMessages: retryMessages,
    description: 'send failed messages once more, and uncertain ones after their UNTIL',
    would: 'would be sent once more',
    did: 'will be sent once more',
    note: '\nAn uncertain message may be on the phone already. A retry can then put it there twice.',
  },
  cancel: {
    changeMessages: cancelMessages,
    description: 'cancel queued messages, and uncertain ones after their UNTIL',
    would: 'would be cancelled',
    did: 'are cancelled',
    note: '',
  },
} as const;

interface ChangeOptions extends ChangeFilter {
  all?: boolean;
  yes?: boolean;
  json?: boolean;
}

function addChangeCommands(group: Command, cli: Cli): void {
  addChangeCommand(group, cli, 'retry');
  addChangeCommand(group, cli, 'cancel');
}

function addChangeCommand(group: Command, cli: Cli, change: MessageChange): void {
  const { description, note } = CHANGES[change];
  const statuses: readonly ChangeableStatus[] = CHANGEABLE_STATUSES[change];
  addCommand(group, change, description, `message ${change} 17`)
    .argument('[application]', "the application's id", readApplicationId)
    .addOption(choiceOption('--status <status>', 'all messages with this status', statuses))
    .option('--reason <code>', 'all messages with this reason, such as 131000')
    .option('--partner <id>', "all messages of this partner's applications", readPartnerId)
    .option('--all', `all messages that are ${statuses.join(' or ')}`)
    .addOption(new Option('--yes', 'change them; without --yes the command only counts them'))
    .addHelpText(
      'after',
      `  npx ventanilla message ${change} --status uncertain --reason http_500 --yes\n` +
        `\nYou can combine --status, --reason and --partner. Uncertain messages do not change before their UNTIL.${note}`,
    )
    .action((application: ApplicationId | undefined, options: ChangeOptions, command: Command) => {
      const fault = misuseOf(change, application, options);
      if (fault !== null) command.error(`error: ${fault}`);
      return application === undefined
        ? changeMany(cli, change, options)
        : changeOne(cli, change, application, options);
    });
}

/** What is wrong with the combination of arguments; null: nothing. */
function misuseOf(
  change: MessageChange,
  application: ApplicationId | undefined,
  options: ChangeOptions,
): string | null {
  const { status, reason, partner, all, yes } = options;
  const hasFilter = status !== undefined || reason !== undefined || partner !== undefined;
  if (application !== undefined && (hasFilter || all === true || yes === true)) {
    return `${change} takes either an application's id or --all, --status, --reason and --partner`;
  }
  if (all === true && hasFilter)
    return `--all goes with no other filter: leave --all out to ${change} only the messages that fit the filters`;
  if (application === undefined && !hasFilter && all !== true) {
    return `${change} takes an application's id, or --status, --reason, --partner or --all`;
  }
  return null;
}

function changeOne(
  { roles, io }: Cli,
  change: MessageChange,
  application: ApplicationId,
  { json }: ChangeOptions,
): Promise<void> {
  return roles.operate(async (context) => {
    const messages = await acting(
      context,
      (part) => CHANGES[change].changeMessages(part, application),
      () => ({ act: `message ${change}`, applicationId: application }),
    );
    await (json === true
      ? writeJson(io, messages.map(messageJson))
      : writeOutput(io, messagesText(messages)));
  });
}

function changeMany({ roles, io }: Cli, change: MessageChange, options: ChangeOptions): Promise<void> {
  const apply = options.yes === true;
  return roles.operate(async (context) => {
    if (apply) await noting(context, { act: `message ${change}`, ...targetOf(options) });
    const counts = await changeMessages(context, change, options, apply);
    if (options.json !== true) return writeOutput(io, `${textOf(change, counts, apply)}\n`);
    const early = counts.find((count) => count.early > 0);
    await writeJson(io, {
      changed: apply,
      messages: sum(counts),
      by_status: Object.fromEntries(counts.map(({ status, ready }) => [status, ready])),
      too_early: early?.early ?? 0,
      until: early?.earlyUntil ? withOffset(early.earlyUntil) : null,
    });
  });
}

/** The target for the record: only the partner, because a reason in the filter is the operator's text. */
function targetOf({ partner }: ChangeOptions): { target?: string } {
  return partner === undefined ? {} : { target: `partner ${partner}` };
}

function textOf(change: MessageChange, counts: readonly ChangeCount[], apply: boolean): string {
  const { would, did } = CHANGES[change];
  const total = sum(counts);
  const parts = counts.filter(({ ready }) => ready > 0).map(({ status, ready }) => `${ready} ${status}`);
  const lines = [
    total === 0 ? 'No message fits.' : `${total} ${apply ? did : would}: ${parts.join(', ')}.`,
    ...counts
      .filter(({ early }) => early > 0)
      .map(
        ({ early, earlyUntil }) =>
          `${early} uncertain not changed: the channel may still settle them, the last one until ${shortTime(earlyUntil)}.`,
      ),
    ...(total > 0 && !apply ? ['Nothing was changed. Add --yes to change them.'] : []),
  ];
  return lines.join('\n');
}

function sum(counts: readonly ChangeCount[]): number {
  return counts.reduce((total, { ready }) => total + ready, 0);
}

export function addMessageCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addCount(group, cli);
  addShow(group, cli);
  addChangeCommands(group, cli);
  addResume(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list messages, newest application first', 'message list --status queued')
    .option('--application <id>', 'only the messages of this application', readApplicationId)
    .addOption(choiceOption('--status <status>', 'only messages with this status', MESSAGE_STATUSES))
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nUNTIL (UTC): a queued message goes out then at the earliest; you may retry or cancel an uncertain one from' +
        '\nthen on. REASON: why the message waits or how it ended; docs/messages.md explains every code.',
    )
    .action((options: ListOptions & Pick<MessageFilter, 'status'> & { application?: ApplicationId }) =>
      roles.operate((context) => {
        const filter = { applicationId: options.application, status: options.status };
        return writeList(io, listMessages(context, filter), options, {
          columns: [
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'TYPE', value: ({ type }) => type },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'ATTEMPTS', value: ({ attempts }) => attempts },
            { title: 'REASON', value: ({ reason }) => reason },
            { title: 'UNTIL', value: ({ dueAt }) => shortTime(dueAt) },
            { title: 'CREATED', value: ({ createdAt }) => shortTime(createdAt) },
          ],
          json: messageJson,
          none: 'No messages.',
        });
      }),
    );
}

const HELD_UP = [
  { counts: '*', later: 'messages first last', paused: 'what reason paused_at' },
  { failing: 'since reason probes next_probe_at', replies: 'waiting since' },
] as const;

function addCount(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'count',
    'count the messages by status, and show what holds them up',
    'message count',
  ).action((options: ListOptions) =>
    roles.operate(async (context) => {
      const held = await countMessages(context);
      const { counts, pauses, broken } = held;
      if (options.json === true) {
        const byStatus = Object.fromEntries(counts.map(({ status, count }) => [status, count]));
        return writeJson(io, named({ ...held, counts: byStatus, paused: pauses, failing: broken }, HELD_UP));
      }
      await writeList(io, counts, options, {
        columns: [
          { title: 'STATUS', value: ({ status }) => status },
          { title: 'MESSAGES', value: ({ count }) => count },
        ],
        json: (entry) => entry,
        none: 'No messages.',
      });
      await writeHeldUp(io, held);
    }),
  );
}

/** Writes what holds messages back, and how to let them go out. */
async function writeHeldUp(
  io: Io,
  { counts, later, pauses, broken, replies }: Awaited<ReturnType<typeof countMessages>>,
): Promise<void> {
  if (later.first !== null && later.last !== null) {
    const queued = counts.find(({ status }) => status === 'queued')?.count ?? 0;
    const until = openingsText(later.first, later.last);
    await writeOutput(
      io,
      `\nOf those queued, ${atLeast(later.messages)} wait for their hour, until ${until}.\n` +
        (later.messages < MOST_LATER ? `Due now: ${Math.max(0, queued - later.messages)}.\n` : ''),
    );
  }
  if (replies.since !== null) {
    await writeOutput(
      io,
      `\nReplies that wait: ${replies.waiting}, the oldest since ${shortTime(replies.since)}.\n`,
    );
  }
  for (const { what, reason, pausedAt } of pauses) {
    const option = what === 'sender' ? '--sender' : `--template ${what}`;
    await writeOutput(io, `\nPaused: ${what} since ${shortTime(pausedAt)}, reason ${reason}.\n`);
    await writeOutput(io, `Once the cause is gone: npx ventanilla message resume ${option}\n`);
  }
  if (broken === null) return;
  const { since, reason, nextProbeAt } = broken;
  await writeOutput(
    io,
    `\nThe channel has failed since ${shortTime(since)}, reason ${reason}: messages wait.\n`,
  );
  await writeOutput(
    io,
    `One message tries the channel at ${shortTime(nextProbeAt)}. All go out once one gets through.\n`,
  );
  await writeOutput(io, 'To send them all now: npx ventanilla message resume --sender\n');
}

function atLeast(count: number): string {
  return count < MOST_LATER ? `${count}` : `${count} or more`;
}

function addShow(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'show', 'show everything about the messages of an application', 'message show 17')
    .argument('<application>', "the application's id", readApplicationId)
    .action((applicationId: ApplicationId, options: ListOptions) =>
      roles.operate(async (context) => {
        const messages = await showMessages(context, applicationId);
        await (options.json === true
          ? writeJson(io, messages.map(messageJson))
          : writeOutput(io, messagesText(messages)));
      }),
    );
}

function addResume(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'resume', 'let paused messages go out again', 'message resume --sender')
    .option('--template <name>', 'the messages of this template')
    .option('--sender', 'all messages that wait because the sender is paused or the channel fails')
    .addHelpText('after', '\nGive one of the two. See what is paused, and why: npx ventanilla message count')
    .action((options: ListOptions & { template?: string; sender?: boolean }, command: Command) => {
      const { template, sender } = options;
      if ((template === undefined) === (sender !== true)) {
        command.error('error: resume takes either --template NAME or --sender');
      }
      return roles.operate(async (context) => {
        const resumed = template ?? 'sender';
        await acting(
          context,
          (part) => resumeMessages(part, template ?? null),
          () => ({ act: 'message resume', target: resumed }),
        );
        return options.json === true ? writeJson(io, { resumed }) : writeOutput(io, `Resumed: ${resumed}\n`);
      });
    });
}
