/** `ventanilla event`: the commands of all subjects that add some. */
import type { Command } from 'commander';
import type { Cli } from '../cli/command.ts';
import { addEventCommands } from '../events/commands/event.ts';
import { addResend } from '../events/push/commands/resend.ts';

export function addEventGroup(group: Command, cli: Cli): void {
  addEventCommands(group, cli);
  addResend(group, cli);
}
