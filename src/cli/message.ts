/** `ventanilla message`. */

import type { Command } from 'commander';
import { MESSAGE_STATUSES } from '../domain/notify.ts';
import { withOffset } from '../domain/time.ts';
import { listMessages, type MessageFilter, type StoredMessage } from '../usecases/messages.ts';
import { addCommand, addGroup, type Cli, choiceOption, limitOption, readPositive } from './command.ts';
import { type ListOptions, shortTime, writeList } from './output.ts';

export function addMessageCommands(program: Command, { roles, io }: Cli): void {
  const group = addGroup(program, 'message', 'the messages to applicants', 'message list');

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
            { title: 'CREATED', value: ({ createdAt }) => shortTime(createdAt) },
          ],
          json: messageJson,
          none: 'No messages.',
        });
      }),
    );
}

function messageJson({ applicationId, type, status, createdAt }: StoredMessage) {
  return { application_id: applicationId, type, status, created_at: withOffset(createdAt) };
}
