/** The command line: `ventanilla <command>`. */
import type { Command } from 'commander';
import { addApplicationCommands } from './application.ts';
import { addCommand, type Cli, Program } from './command.ts';
import { addKeyCommands } from './key.ts';
import { addMessageCommands } from './message.ts';
import { type Io, write, writeJson } from './output.ts';
import { addPartnerCommands } from './partner.ts';
import { addQuotaCommands } from './quota.ts';
import type { Roles } from './roles.ts';
import { addSubmitCommand } from './submit.ts';
import { addSuppressionCommands } from './suppression.ts';

/**
 * The program with all its commands. Its `parseAsync` never rejects: it sets `io.exitCode` to 1 where a
 * command failed and to 2 where it was not used as it is meant, and says why on `io.stderr`.
 */
export function buildProgram(roles: Roles, io: Io): Command {
  const program = new Program('ventanilla', io);
  program
    .description('Takes in credit applications by the batch, scores and decides each one.')
    .addHelpText('after', '\nExample:\n  npx ventanilla partner add --name Acme --country CO');
  const cli: Cli = { roles, io };
  addRoleCommands(program, cli);
  addPartnerCommands(program, cli);
  addKeyCommands(program, cli);
  addQuotaCommands(program, cli);
  addApplicationCommands(program, cli);
  addMessageCommands(program, cli);
  addSuppressionCommands(program, cli);
  addSubmitCommand(program, cli);
  return program;
}

function addRoleCommands(program: Command, { roles, io }: Cli): void {
  addCommand(program, 'serve', 'serve the API until told to stop (its log is JSON as it is)', 'serve').action(
    () => roles.serve(),
  );
  addCommand(
    program,
    'worker',
    'run the background work alone until told to stop (its log is JSON as it is)',
    'worker',
  ).action(() => roles.worker());
  addCommand(program, 'migrate', 'bring the database up to date', 'migrate').action(
    async ({ json }: { json?: boolean }) => {
      const applied = await roles.migrate();
      if (json) return writeJson(io, { applied });
      await write(io, applied.length === 0 ? 'Nothing to do.\n' : `Applied ${applied.join(', ')}.\n`);
    },
  );
}
