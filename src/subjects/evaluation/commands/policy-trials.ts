/**
 * `ventanilla policy replay` and `policy drift` (docs/policy.md, "Replay" and "Drift"). They read only, and need no
 * data key.
 */
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { addCommand, asArgument, type Cli, readDay } from '../../../program/cli/command.ts';
import { writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { drift } from '../uses/drift.ts';
import { replay } from '../uses/replay.ts';
import { addBacktests } from './policy-backtests.ts';
import { addPolicyLabels } from './policy-labels.ts';
import { addPolicyShadow } from './policy-shadow.ts';
import { sinceOption } from './since-option.ts';

interface Options {
  readonly json?: boolean;
  readonly since?: string;
}

/** Adds the commands to the group `policy`. */
export function addPolicyTrials(group: Command, cli: Cli): void {
  addReplay(group, cli);
  addBacktests(group, cli);
  addDrift(group, cli);
  addPolicyShadow(group, cli);
  addPolicyLabels(group, cli);
}

function addReplay(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'replay',
    'decide stored applications again, each by its own policy, and compare',
    'policy replay --since 2026-11-01',
  )
    .addOption(sinceOption())
    .action(({ json, since = undefined }: Options) =>
      roles.operate(async ({ database }) => {
        const done = await replay(database, since ?? null);
        if (done.equal < done.checked) io.exitCode = 1;
        const { checked, equal, differ } = done;
        if (json) return writeJson(io, { checked, equal, differ });
        const all = counted(checked, 'application');
        await writeOutput(
          io,
          equal === checked
            ? `${all} checked: every score, decision and point comes out again.\n`
            : `${all} checked, ${checked - equal} come out otherwise, such as ${differ.slice(0, 10).join(', ')}.\n`,
        );
      }),
    );
}

function addDrift(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'drift',
    'compare the applications of the last days with those that the live policy began with',
    'policy drift --window 7',
  )
    .option('--window <days>', 'the last so many days', asArgument(readDays), 7)
    .option(
      '--baseline <from..to>',
      'days to compare with; default: the first 5,000 after the activation',
      asArgument(readRange),
    )
    .addHelpText('after', '\nThe exit code is 1 where a characteristic has drifted.')
    .action(
      ({
        json,
        window: days,
        baseline,
      }: Options & { window: number; baseline?: { from: string; to: string } }) =>
        roles.operate(async ({ database }) => {
          const found = await drift(database, { days, baseline: baseline ?? null });
          const rows = found?.rows ?? [];
          if (rows.some(({ alert }) => alert)) io.exitCode = 1;
          if (!json && found !== null)
            await writeOutput(
              io,
              `${found.version}: ${counted(found.applications, 'application')} of the last ${counted(days, 'day')} against ${found.baseline}\n`,
            );
          await writeList(
            io,
            rows,
            { json: json === true, limit: rows.length + 1 },
            {
              columns: [
                { title: 'CHARACTERISTIC', value: ({ characteristic }) => characteristic },
                { title: 'PSI', value: ({ psi }) => psi?.toFixed(3) ?? 'too few' },
                { title: 'THRESHOLD', value: ({ threshold }) => threshold?.toFixed(3) ?? null },
                { title: 'ALERT', value: ({ alert }) => (alert ? 'drifted' : null) },
              ],
              json: (row) => row,
              none: 'No policy is live yet.',
            },
          );
        }),
    );
}

const MOST_DAYS = 366;

function readDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,3}$/.test(text) && days >= 1 && days <= MOST_DAYS) return days;
  throw new OperatorError(`the window must be 1 to ${MOST_DAYS} days`);
}

function readRange(text: string): { from: string; to: string } {
  const [from, to, more] = text.split('..');
  if (from === undefined || to === undefined || more !== undefined || from > to)
    throw new OperatorError('the baseline must be written as 2026-11-01..2026-11-07');
  return { from: readDay(from), to: readDay(to) };
}
