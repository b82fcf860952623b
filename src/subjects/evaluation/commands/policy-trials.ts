/**
 * `ventanilla policy replay`, `policy backtest` and `policy drift` (docs/policy.md, "Replay", "Backtest" and "Drift").
 * They read only, and need no data key.
 */
import type { Command } from 'commander';
import { DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';
import { counted } from '../../../ground/base/counted.ts';
import { addCommand, asArgument, type Cli } from '../../../program/cli/command.ts';
import { recordOf, writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { findVersion } from '../../policies/uses/versions.ts';
import { type BacktestReport, changesInWords, type Share } from '../rules/backtest-report.ts';
import { backtest } from '../uses/backtest.ts';
import { drift } from '../uses/drift.ts';
import { replay } from '../uses/replay.ts';
import { addPolicyShadow } from './policy-shadow.ts';

interface Options {
  readonly json?: boolean;
  readonly since?: string;
}

/** Adds the commands to the group `policy`. */
export function addPolicyTrials(group: Command, cli: Cli): void {
  addReplay(group, cli);
  addBacktest(group, cli);
  addDrift(group, cli);
  addPolicyShadow(group, cli);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function readDay(text: string): string {
  if (DAY.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new OperatorError('the day must be written as 2026-11-30');
}

function addSince(command: Command): Command {
  return command.option(
    '--since <day>',
    'registrations from this day on, in UTC; default: all',
    asArgument(readDay),
  );
}

function addReplay(group: Command, { roles, io }: Cli): void {
  addSince(
    addCommand(
      group,
      'replay',
      'decide stored applications again, each by its own policy, and compare',
      'policy replay --since 2026-11-01',
    ),
  ).action(({ json, since = undefined }: Options) =>
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

function addBacktest(group: Command, { roles, io, clock }: Cli): void {
  addSince(
    addCommand(
      group,
      'backtest',
      'say what a version, also a draft, would have decided',
      'policy backtest strict-1 --since 2026-11-01',
    ),
  )
    .argument('<version>', 'the version')
    .action((version: string, { json, since }: Options) =>
      roles.operate(async (context) => {
        const { card } = await findVersion(context, version);
        const began = clock.monotonicMs();
        const report = await backtest(context.database, card, since ?? null);
        const seconds = (clock.monotonicMs() - began) / 1000;
        if (json) return writeJson(io, { version, ...reportJson(report), seconds });
        await writeOutput(io, reportText(version, report));
      }),
    );
}

function reportJson({ reviewsADay, ...report }: BacktestReport) {
  return { ...report, reviews_a_day: reviewsADay, in_words: changesInWords(report) };
}

function reportText(version: string, report: BacktestReport): string {
  const { applications, matrix, usd, damaged, reviewsADay, reasons } = report;
  if (applications === 0) return 'No application was registered in this time.\n';
  const words = changesInWords(report);
  const line = (before: Decision) =>
    [
      before,
      DECISIONS.map((after) => `${after} ${matrix[before][after]} (${money(usd[before][after])} USD)`).join(
        ', ',
      ),
    ] as const;
  const parts = [
    `${counted(applications, 'application')}, decided by ${version}: ${words.length === 0 ? 'no decision changes' : words.join(', ')}.`,
    recordOf(DECISIONS.map(line)),
    recordOf([
      ['reviews a day', `${reviewsADay.before.toFixed(1)} before, ${reviewsADay.after.toFixed(1)} after`],
    ]),
    ...[
      ['By partner', report.partners],
      ['By currency', report.currencies],
      ['By month', report.months],
    ].map(([title, shares]) => `${title}\n${recordOf((shares as Share[]).map(shareLine))}`),
    `Reasons\n${recordOf(reasons.map(({ code, before, after }) => [code, `${before} before, ${after} after`]))}`,
    ...(damaged > 0 ? [`${counted(damaged, 'application')} could not be read.`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function shareLine({ name, applications, before, rate, low, high }: Share) {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return [
    name,
    `${percent(before / applications)} approved before, ${percent(rate)} after (${percent(low)} to ${percent(high)}) of ${applications}`,
  ] as const;
}

const money = (usd: number) => Math.round(usd).toLocaleString('en');

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
