/**
 * `ventanilla reply`: lists replies that wait or may not have arrived, and retries or cancels the latter
 * (docs/messages.md, "Replies").
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli, limitOption } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import { cancelReplies, listReplies, retryReply } from '../uses/replies.ts';

const REPLY = 'application_id turn status reason attempts created_at changed_at window_until';

/** Adds the commands of the group. */
export function addReplyCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addRetry(group, cli);
  addCancel(group, cli);
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'list',
    'list the replies that wait or may not have arrived, the oldest first',
    'reply list',
  )
    .addOption(limitOption())
    .addHelpText(
      'after',
      '\nUNTIL (UTC): the channel takes the reply until then. SINCE: since when it has its status.',
    )
    .action((options: ListOptions) =>
      roles.operate((context) =>
        writeList(io, listReplies(context), options, {
          columns: [
            { title: 'APPLICATION', value: ({ applicationId }) => applicationId },
            { title: 'TURN', value: ({ turn }) => turn },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'REASON', value: ({ reason }) => reason },
            { title: 'ATTEMPTS', value: ({ attempts }) => attempts },
            { title: 'SINCE', value: ({ changedAt }) => shortTime(changedAt) },
            { title: 'UNTIL', value: ({ windowUntil }) => shortTime(windowUntil) },
          ],
          json: (reply) => named(reply, REPLY),
          none: 'No reply waits.',
        }),
      ),
    );
}

function addRetry(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'retry',
    'send the newest reply of an application once more, where it is uncertain',
    'reply retry 346',
  )
    .argument('<application>', "the application's id", readApplicationId)
    .addOption(actorOption())
    .addHelpText('after', '\nThe reply may be on the phone already: the person can then read it twice.')
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const reply = await acting(
          namedBy(options, context),
          (part) => retryReply(part, id),
          () => ({ act: 'reply retry', applicationId: id }),
        );
        if (options.json) return writeJson(io, named(reply, REPLY));
        await writeOutput(io, `Reply ${reply.turn} of application ${id} is sent once more.\n`);
      }),
    );
}

function addCancel(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'cancel',
    'settle the uncertain replies of an application: none is sent again',
    'reply cancel 346',
  )
    .argument('<application>', "the application's id", readApplicationId)
    .addOption(actorOption())
    .action((id: ApplicationId, options: ActorOptions & { json?: boolean }) =>
      roles.operate(async (context) => {
        const cancelled = await acting(
          namedBy(options, context),
          (part) => cancelReplies(part, id),
          () => ({ act: 'reply cancel', applicationId: id }),
        );
        if (options.json) return writeJson(io, { application_id: id, cancelled });
        await writeOutput(io, `Uncertain replies of application ${id} that are cancelled: ${cancelled}.\n`);
      }),
    );
}
