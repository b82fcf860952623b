/** Adds `ventanilla submit` to the program. */
import type { Command } from 'commander';
import { type Cli, describeSubmit, type Program } from '../cli/command.ts';

/** Adds the command to the program, which loads its work when the arguments name it. */
export function addSubmit(program: Program, cli: Cli): void {
  const submit = addSubmitCommand(program);
  program.fillWhenNamed(submit, async () =>
    (await import('../bulk/commands/submit.ts')).fillSubmit(submit, cli),
  );
}

/** The command as the program's help shows it; `fillSubmit` adds its options and its work. */
export function addSubmitCommand(program: Command): Command {
  return describeSubmit(program.command('submit'), 'npx ventanilla submit');
}
