/**
 * The commands `ventanilla retention`: `plan` shows what is old enough to be deleted, `run` deletes it
 * (docs/operations.md, "How long applications are kept"). `uses/retention.ts` does the work.
 */
import type { Command } from 'commander';
import type { Retention } from '../../../domain/application/retention.ts';
import { counted } from '../../../ground/base/counted.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { noting } from '../../../program/operations/acting.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { RETENTION_DAYS, RETENTION_POLICY } from '../settings.ts';
import { planRetention, runRetention } from '../uses/retention.ts';

export function addRetentionCommands(group: Command, { roles, io }: Cli): void {
  const retention = async (): Promise<Retention> => {
    const days = await roles.setting(RETENTION_DAYS);
    const found = (await roles.setting(RETENTION_POLICY)) ?? (days && { rejected: days, disbursed: days });
    if (found) return found;
    throw new OperatorError('applications are kept for ever: set RETENTION_POLICY or RETENTION_DAYS');
  };
  addCommand(
    group,
    'plan',
    'show what is old enough to be deleted, by month and status',
    'retention plan',
  ).action(async ({ json }: { json?: boolean }) => {
    const policy = await retention();
    return roles.operate(async (context) => {
      const due = await planRetention(context, policy);
      await writeList(
        io,
        due,
        { json: json === true, limit: due.length + 1 },
        {
          columns: [
            { title: 'MONTH', value: ({ month }) => month },
            { title: 'STATUS', value: ({ status }) => status },
            { title: 'APPLICATIONS', value: ({ applications }) => applications },
          ],
          json: (one) => one,
          none: 'Nothing is old enough.',
        },
      );
    });
  });
  addCommand(
    group,
    'run',
    'delete what is old enough now, instead of waiting for the upkeep',
    'retention run',
  ).action(async ({ json }: { json?: boolean }) => {
    const policy = await retention();
    return roles.operate(async (context) => {
      await noting(context, { act: 'retention run' });
      const deleted = await runRetention(context, policy);
      await (json ? writeJson(io, { deleted }) : writeOutput(io, deletedText(deleted)));
    });
  });
}

function deletedText(deleted: number): string {
  if (deleted > 0) return `Deleted ${counted(deleted, 'application')}.\n`;
  return (
    'Deleted 0 applications. What is due stays up to a day after its partition was looked at, and up to 30 days where ' +
    'less than half of the partition is due.\n'
  );
}
