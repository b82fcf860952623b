/** `ventanilla message`. A message is known by its application: each has at most one. */
import type { Command } from 'commander';
import { MESSAGE_STATUSES } from '../domain/notify.ts';
import { withOffset } from '../domain/time.ts';
import {
  cancelMessage,
  countMessages,
  listMessages,
  type MessageFilter,
  resumeMessages,
  retryMessage,
  type StoredMessage,
  showMessage,
} from '../usecases/messages.ts';
import type { OperatorContext } from '../usecases/operator-context.ts';
import { addCommand, addGroup, type Cli, choiceOption, limitOption, readPositive } from './command.ts';
import { type ListOptions, recordOf, shortTime, write, writeJson, writeList } from './output.ts';

export function addMessageCommands(program: Command, cli: Cli): void {
  const group = addGroup(program, 'message', 'the messages to applicants', 'message list');
  const { roles, io } = cli;

  addCommand(group, 'list', 'list messages, newest application first', 'message list --status queued')
    .option('--application <id>', 'only the message of this application', readPositive)
    .addOption(choiceOption('--status <status>', 'only those with this status', MESSAGE_STATUSES))
    .addOption(limitOption())
    .action((options: ListOptions & Pick<MessageFilter, 'status'> & { application?: number }) =>
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

  addCommand(group, 'count', 'messages by state, and what is paused', 'message count').action(
    (options: ListOptions) =>
      roles.operate(async (context) => {
        const { counts, pauses } = await countMessages(context);
        if (options.json === true) {
          return writeJson(io, {
            counts: Object.fromEntries(counts.map(({ status, count }) => [status, count])),
            paused: pauses.map(({ what, reason, pausedAt }) => ({
              what,
              reason,
              paused_at: withOffset(pausedAt),
            })),
          });
        }
        await writeList(io, counts, options, {
          columns: [
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'MESSAGES', value: ({ count }) => count },
          ],
          json: (entry) => entry,
          none: 'No messages.',
        });
        for (const { what, reason, pausedAt } of pauses) {
          await write(io, `\npaused: ${what} since ${shortTime(pausedAt)}, reason ${reason}\n`);
        }
      }),
  );

  addOne(group, cli, 'show', 'everything about one message', showMessage);
  addOne(group, cli, 'retry', 'send a failed message again, or an uncertain one in time', retryMessage);
  addOne(group, cli, 'cancel', 'cancel a message that waits, or settle an uncertain one', cancelMessage);

  addCommand(group, 'resume', 'let paused messages go out again', 'message resume --sender')
    .option('--template <name>', 'those of this template')
    .option('--sender', 'those of the whole sender')
    .action((options: ListOptions & { template?: string; sender?: boolean }, command: Command) =>
      roles.operate(async (context) => {
        const { template, sender } = options;
        if ((template === undefined) === (sender !== true)) {
          command.error('error: resume needs either --template or --sender');
        }
        await resumeMessages(context, template ?? null);
        const resumed = template ?? 'sender';
        return options.json === true ? writeJson(io, { resumed }) : write(io, `Resumed: ${resumed}\n`);
      }),
    );
}

function addOne(
  group: Command,
  { roles, io }: Cli,
  name: string,
  description: string,
  work: (context: OperatorContext, applicationId: number) => Promise<StoredMessage>,
): void {
  addCommand(group, `${name}`, description, `message ${name} 17`)
    .argument('<application>', "the application's id", readPositive)
    .action((applicationId: number, options: ListOptions) =>
      roles.operate(async (context) => {
        const message = await work(context, applicationId);
        await (options.json === true ? writeJson(io, messageJson(message)) : write(io, recordText(message)));
      }),
    );
}

function recordText(message: StoredMessage): string {
  const { applicationId, type, status, attempts, reason, channelMessageId } = message;
  return `${recordOf([
    ['Application', applicationId],
    ['Type', type],
    ['Status', status],
    ['Attempts', attempts],
    ['Reason', reason],
    ['Until', shortTime(message.dueAt)],
    ["Channel's id", channelMessageId],
    ['Created', shortTime(message.createdAt)],
    ['Changed', shortTime(message.changedAt)],
  ])}\n`;
}

function messageJson(message: StoredMessage) {
  const { applicationId, type, status, attempts, reason, dueAt, channelMessageId } = message;
  return {
    application_id: applicationId,
    type,
    status,
    attempts,
    reason,
    until: dueAt === null ? null : withOffset(dueAt),
    channel_message_id: channelMessageId,
    created_at: withOffset(message.createdAt),
    changed_at: withOffset(message.changedAt),
  };
}
