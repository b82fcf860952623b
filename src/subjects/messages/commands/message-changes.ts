/** `ventanilla message retry` and `cancel`: for the messages of one application, or for all messages that fit. */

import { type Command, Option } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { withOffset } from '../../../ground/base/time.ts';
import { addCommand, type Cli, choiceOption } from '../../../program/cli/command.ts';
import { readApplicationId, readPartnerId } from '../../../program/cli/id-arguments.ts';
import { shortTime, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import {
  CHANGEABLE_STATUSES,
  type ChangeableStatus,
  type ChangeCount,
  type ChangeFilter,
  changeMessages,
  type MessageChange,
} from '../uses/message-selection.ts';
import { cancelMessages, retryMessages } from '../uses/messages.ts';
import { messageJson, messagesText } from './message-view.ts';

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

export function addChangeCommands(group: Command, cli: Cli): void {
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

/** Says what is wrong with the combination of arguments; null where nothing is. */
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

/** The partner alone: a reason in the filter is the operator's text. */
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
