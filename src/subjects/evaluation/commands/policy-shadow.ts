/** `ventanilla policy shadow start`, `stop` and `list` (docs/policy.md, "Shadow"). `uses/shadows.ts` does the work. */
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, addGroup, asArgument, type Cli } from '../../../program/cli/command.ts';
import { shortTime, writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { changesInWords } from '../rules/backtest-report.ts';
import { DEFAULT_DAYS, MOST_DAYS } from '../rules/shadow-days.ts';
import { ENDED_WHY, readShadows, type ShadowReport, startShadow, stopShadow } from '../uses/shadows.ts';

interface Options {
  readonly json?: boolean;
}

/** Adds the commands to the group `policy`. */
export function addPolicyShadow(policy: Command, cli: Cli): void {
  const group = addGroup(
    policy,
    'shadow',
    'let a version decide beside the live one, without effect, and count',
    'policy shadow start strict-1 --days 14',
  );
  addStart(group, cli);
  addStop(group, cli);
  addList(group, cli);
}

function addStart(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'start', 'start the shadow of a version or a draft', 'policy shadow start strict-1')
    .argument('<version>', 'the version, as it is now')
    .option('--days <n>', `until so many days from now`, asArgument(readDays), DEFAULT_DAYS)
    .addOption(actorOption())
    .addHelpText(
      'after',
      '\nIt counts what is registered from now on. It ends by itself after its days, and where another policy is activated.',
    )
    .action((version: string, { json, days, ...who }: Options & ActorOptions & { days: number }) =>
      roles.operate(async (context) => {
        const { live, endsAt } = await startShadow(namedBy(who, context), version, days);
        if (json) return writeJson(io, { version, live, ends_at: endsAt });
        await writeOutput(
          io,
          `The shadow of policy ${version} runs beside ${live} until ${shortTime(endsAt)}.\n`,
        );
      }),
    );
}

function readDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,2}$/.test(text) && days >= 1 && days <= MOST_DAYS) return days;
  throw new OperatorError(`a shadow runs for 1 to ${MOST_DAYS} days`);
}

function addStop(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'stop', 'stop the shadow of a version', 'policy shadow stop strict-1')
    .argument('<version>', 'the version')
    .addOption(actorOption())
    .action((version: string, { json, ...who }: Options & ActorOptions) =>
      roles.operate(async (context) => {
        const report = await stopShadow(namedBy(who, context), version);
        if (json) return writeJson(io, shadowJson(report));
        const { applications, state } = report;
        const more = state === 'ended' ? '' : ' The rest is counted within a minute.';
        await writeOutput(
          io,
          `The shadow of policy ${version} has stopped: ${counted(applications, 'application')}, ${wordsOf(report)}.${more}\n`,
        );
      }),
    );
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the shadows and what they have counted', 'policy shadow list').action(
    ({ json }: Options) =>
      roles.operate(async ({ database }) => {
        const shadows = await readShadows(database);
        await writeList(
          io,
          shadows,
          { json: json === true, limit: shadows.length + 1 },
          {
            columns: [
              { title: 'VERSION', value: ({ version }) => version },
              { title: 'STATE', value: ({ state }) => state },
              { title: 'SINCE', value: ({ started_at }) => shortTime(started_at) },
              { title: 'UNTIL', value: ({ ended_at, ends_at }) => shortTime(ended_at ?? ends_at) },
              {
                title: 'ENDED WHY',
                value: ({ ended_why }) => (ended_why === null ? null : ENDED_WHY[ended_why]),
              },
              { title: 'BESIDE', value: ({ live }) => live },
              { title: 'APPLICATIONS', value: ({ applications }) => `${applications}` },
              { title: 'CHANGES', value: wordsOf },
            ],
            json: shadowJson,
            none: 'No shadow has run in the last 100 days.',
          },
        );
      }),
  );
}

function wordsOf(report: ShadowReport): string {
  const words = changesInWords(report);
  return words.length === 0 ? 'no decision changes' : words.join(', ');
}

function shadowJson({ id: _, ...report }: ShadowReport) {
  return { ...report, in_words: changesInWords(report) };
}
