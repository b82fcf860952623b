/**
 * Builds the command line `ventanilla <command>` from the commands of all subjects (docs/operations.md, "Commands").
 * Touches only the given streams; roles and subjects do the work.
 */
import { type Command, Option } from 'commander';
import type { Clock } from '../ground/base/clock.ts';
import { version } from '../ground/base/version.ts';
import { addCommand, addGroup, DEBUG, Program } from '../program/cli/command.ts';
import { type Io, writeJson, writeOutput } from '../program/cli/output.ts';
import { OperatorError } from '../program/operations/operator-context.ts';
import type { Commands } from '../program/subject/subject.ts';
import type { ProgramRoles, Schema } from './role-types.ts';
import { SUBJECTS } from './subjects.ts';

interface MigrateOptions {
  readonly json?: boolean;
  readonly status?: boolean;
  readonly distribute?: boolean;
}

/**
 * The program with the commands of all subjects and of `packages`. Its `parseAsync` never rejects: it sets
 * `io.exitCode` to 1 after a failure, to 2 after wrong use and to 70 after a fault of the program, and says why on
 * `io.stderr`.
 */
export function buildProgram(
  roles: ProgramRoles,
  io: Io,
  clock: Clock,
  packages: readonly Commands[] = [],
): Program {
  const program = new Program('ventanilla', io, async () => {
    return (await import('../ground/postgres/store-trouble.ts')).isServerTrouble;
  });
  program
    .version(version())
    .option(DEBUG, 'show the stack of a failure')
    .description('Takes in credit applications by the batch, scores and decides each one.')
    .addHelpText('after', '\nExample:\n  npx ventanilla partner add --name Acme --country CO');
  addRoleCommands(program, roles, io);
  for (const { command: find, load } of [...SUBJECTS.flatMap(({ commands = [] }) => commands), ...packages]) {
    const command = find(program);
    program.fillWhenNamed(command, async () => (await load())(command, { roles, io, clock }));
  }
  addBackups(program, roles, io);
  return program;
}

/** A backup is of the whole store, so its commands belong to no subject's list. */
function addBackups(program: Program, { backups }: ProgramRoles, io: Io): void {
  const about = 'backups of the embedded store';
  const group = addGroup(program, 'backup', about, 'backup create --to /mnt/backups');
  program.fillWhenNamed(group, async () => {
    const { addBackupCommands } = await import('../subjects/backup/commands/backup.ts');
    addBackupCommands(group, io, backups);
  });
}

function addRoleCommands(program: Command, roles: ProgramRoles, io: Io): void {
  addCommand(program, 'serve', 'serve the API until told to stop (the log is always JSON)', 'serve').action(
    () => roles.serve(),
  );
  addCommand(
    program,
    'worker',
    'deliver messages and push events, without the API, until told to stop (the log is always JSON)',
    'worker',
  ).action(() => roles.worker());
  addCommand(program, 'migrate', 'bring the database up to date', 'migrate --status')
    .option(
      '--status',
      'change nothing, and say what is pending and whether running processes go on meanwhile',
    )
    .addOption(new Option('--distribute', 'spread the tables over a Citus cluster').conflicts('status'))
    .action(async ({ json = false, status = false, distribute = false }: MigrateOptions) => {
      if (status) return showSchema(io, await roles.schema(), json);
      const { applied, granted, distributed } = await roles.migrate(distribute);
      if (json) return writeJson(io, distribute ? { applied, granted, distributed } : { applied, granted });
      const lines = [
        ...(applied.length > 0 ? [`Applied ${applied.join(', ')}.\n`] : []),
        ...(granted === null ? [] : [`Gave ${granted} what the service needs, and no more.\n`]),
        ...(distributed.length > 0 ? [`Distributed ${distributed.join(', ')}.\n`] : []),
      ];
      await writeOutput(io, lines.length > 0 ? lines.join('') : 'Nothing to do.\n');
    });
}

/** Throws if this version does not work on the tables. */
async function showSchema(io: Io, { fault, pending, isRolling }: Schema, json: boolean): Promise<void> {
  if (fault !== null) throw new OperatorError(fault);
  const names = pending.map(({ name }) => name);
  if (json) return writeJson(io, { pending: names, rolling: isRolling });
  if (names.length === 0) return writeOutput(io, 'Nothing is pending.\n');
  const how = isRolling
    ? 'Processes of the version before go on working meanwhile, and may start again.'
    : 'Stop all processes of other versions first, and make a backup: there is no way back but the backup.';
  await writeOutput(io, `Pending: ${names.join(', ')}.\n${how}\n`);
}
