/** `ventanilla policy labels import` (docs/policy.md, "Labels"). It needs no data key. */
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, addGroup, type Cli } from '../../../program/cli/command.ts';
import { type ListOptions, recordOf, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { type Imported, importLabels } from '../uses/import-labels.ts';

/** Adds the group `labels` to the group `policy`. */
export function addPolicyLabels(group: Command, cli: Cli): void {
  addImport(
    addGroup(group, 'labels', 'what became of loans, for backtests', 'policy labels import labels.csv'),
    cli,
  );
}

function addImport(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'import', 'read from a file which loans went bad', 'policy labels import labels.csv')
    .argument('<file>', 'CSV with the columns id, date and bad (0 or 1), or JSON lines with these members')
    .addOption(actorOption())
    .addHelpText(
      'after',
      '\nThe label of the newest date counts. The exit code is 1 where a line has no label or names no application.',
    )
    .action((file: string, { json, ...who }: ListOptions & ActorOptions) =>
      roles.operate(async (context) => {
        const done = await importLabels(namedBy(who, context), file);
        if (done.damaged > 0 || done.unknown > 0) io.exitCode = 1;
        await (json ? writeJson(io, done) : writeOutput(io, importedText(done)));
      }),
    );
}

function importedText({ faults, erased, ...done }: Imported): string {
  const lines = faults.map(({ line, fault }) => `Line ${line}: ${fault}.\n`);
  const unnamed = done.damaged + done.unknown - faults.length;
  return [
    ...lines,
    unnamed > 0 ? `${counted(unnamed, 'such line')} more.\n` : '',
    `${recordOf([
      ['added', done.added],
      ['there already', done.already],
      ['changed', done.changed],
      ['older than the stored one', done.older],
      ['no such application', done.unknown],
      ['damaged', done.damaged],
    ])}\n`,
    erased > 0 ? `${counted(erased, 'line')} of them of applicants who were erased.\n` : '',
  ].join('');
}
